import { closeCodes, closeReactions, otherCloseReaction } from '@auth-account/contracts/push/close-codes';
import { generatedNotice } from './client-routes.ts';

/** Reaction to each close code of the stream, and its type. */
export function closeReactionsModule(): string {
  const rows = Object.entries(closeCodes).map(
    ([reason, code]) => `  /** ${reason} */\n  ${code}: '${closeReactions[reason as keyof typeof closeReactions]}',`,
  );
  return `${generatedNotice}
/** Reaction of an app to each close code of its stream. */
export const closeReactions = {
${rows.join('\n')}
} as const;

/** Reaction to every other end. */
export const otherCloseReaction = '${otherCloseReaction}';

export type CloseReaction = (typeof closeReactions)[keyof typeof closeReactions] | typeof otherCloseReaction;
`;
}
