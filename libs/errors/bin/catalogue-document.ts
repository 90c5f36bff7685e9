import { errorCodes, rowOf } from '../src/catalogue.ts';
import { errorDomain } from '../src/grpc/error-domain.ts';
import { locales } from '../src/locales.ts';
import { validationTypes } from '../src/validation-item.ts';

/** Returns the text of catalogue.json: the whole table with its texts, for apps in other languages. */
export function catalogueDocument(): string {
  const codes = errorCodes.map((code) => ({
    code,
    ...rowOf(code),
    messages: Object.fromEntries(Object.entries(locales).map(([locale, messages]) => [locale, messages[code]])),
  }));
  const document = { errorInfoDomain: errorDomain, locales: Object.keys(locales), validationTypes, codes };
  return `${JSON.stringify(document, null, 2)}\n`;
}
