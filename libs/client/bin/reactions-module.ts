import { closeCodes, closeReactions, otherCloseReaction } from '@auth-account/contracts/push/close-codes';
import { catalogue } from '@auth-account/errors';

/** The usual retry. The rows leave it out, because every byte counts in the bundle. */
const usualRetry = 'never';

/** Codes of another domain that this service also returns. */
const alsoOwn: readonly string[] = ['PMA_TRACE_ID_MISSING'];

/** Prints the reaction and retry of every code that this service returns, and the types of all codes. */
export function reactionsModule(): string {
  return `import type { siblingReactions } from './sibling-reactions.ts';

/** Reaction of every error code of the service, and its retry unless that is \`${usualRetry}\`. */
export const reactions = {
${printedRows(isOwn)}
} as const;

export type OwnErrorCode = keyof typeof reactions;
/** Every code of the catalogue, those of the other services of the family too. */
export type ErrorCode = OwnErrorCode | keyof typeof siblingReactions;

type Row = (typeof reactions)[OwnErrorCode] | (typeof siblingReactions)[keyof typeof siblingReactions];
type Mutable<T> = { readonly [K in keyof T]: T[K] };

/** Reaction of the app or the client to an error: a type and its parameters. A \`switch\` over the type is exhaustive. */
export type Reaction = Mutable<Row[0]>;

/** Time at which the same request may succeed: after a pause, after a refresh, or never. */
export type Retry = '${usualRetry}' | Extract<Row, readonly [unknown, unknown]>[1];
`;
}

/**
 * Prints the reaction and retry of the other services' codes. Only apps that import these have them in their bundle.
 */
export function siblingReactionsModule(): string {
  return `/** Reaction of every error code of the other services of the family, and its retry unless that is \`${usualRetry}\`. */
export const siblingReactions = {
${printedRows((code) => !isOwn(code))}
} as const;
`;
}

function isOwn(code: string): boolean {
  return /^(IAD_|ERR-)/.test(code) || alsoOwn.includes(code);
}

function printedRows(isWanted: (code: string) => boolean): string {
  return Object.entries(catalogue)
    .filter(([code]) => isWanted(code))
    .map(([code, { reaction, retry }]) => {
      const row = [printed(reaction), ...(retry === usualRetry ? [] : [`'${retry}'`])];
      return `  ${keyOf(code)}: [${row.join(', ')}],`;
    })
    .join('\n');
}

function keyOf(code: string): string {
  return /^\w+$/.test(code) ? code : `'${code}'`;
}

function printed(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(printed).join(', ')}]`;
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value !== 'object' || value === null) return String(value);
  return `{ ${Object.entries(value)
    .map(([name, member]) => `${name}: ${printed(member)}`)
    .join(', ')} }`;
}

/** Prints the reaction to each close code of the stream. */
export function closeReactionsModule(): string {
  const rows = Object.entries(closeCodes).map(
    ([reason, code]) =>
      `  /** ${reason} */\n  readonly ${code}: '${closeReactions[reason as keyof typeof closeReactions]}';`,
  );
  return `/** Reaction of an app to each close code of its stream; to every other end it is '${otherCloseReaction}'. */
export interface CloseReactions {
${rows.join('\n')}
}
`;
}
