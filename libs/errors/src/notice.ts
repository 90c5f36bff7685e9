import type { ReactionType } from './catalogue/row.ts';
import { type NoticeCode, rowOf } from './catalogue.ts';
import { type Locale, locales } from './locales.ts';

export interface Notice {
  code: NoticeCode;
  message: string;
  action: string;
  reaction: ReactionType;
}

/**
 * Returns a notice to put into a successful answer. A notice is never thrown, because the operation succeeded.
 *
 * @example
 * const shown = notice('INV_STOCK_MASKED_MINUS', { locale: 'ru' });
 */
export function notice(code: NoticeCode, options: { locale: Locale }): Notice {
  return { code, ...locales[options.locale][code], reaction: rowOf(code).reaction.type };
}
