import { routes } from '@auth-account/contracts';
import { closeCodes, closeReactions, otherCloseReaction } from '@auth-account/contracts/push/close-codes';
import { catalogue } from '@auth-account/errors';

/** The usual retry. The rows leave it out, because every byte counts in the bundle. */
const usualRetry = 'never';

/** Codes of another domain that this service also returns. */
const alsoOwn: readonly string[] = ['PMA_TRACE_ID_MISSING'];

/** Operations that the client calls without any group. */
const ofCore = ['registerAccount', 'logIn', 'refreshTokens', 'logOut', 'findAccount'] as const;

/** Codes that the client may get without any group, besides those of its operations. */
const alsoCore: readonly string[] = ['ERR-ROUTE-NOT-FOUND', 'ERR-METHOD-NOT-ALLOWED', 'ERR-STEP-UP-REQUIRED'];

const coreCodes = new Set<string>([...alsoCore, ...ofCore.flatMap((name) => routes[name].errors)]);

/** Prints the reaction and retry of every code that a client without groups may get. */
export function coreReactionsModule(): string {
  return rowsModule('coreReactions', 'the codes that a client without groups may get', (code) => coreCodes.has(code));
}

/** Prints the reaction and retry of the service's other codes. A client without groups does not have them. */
export function groupReactionsModule(): string {
  return rowsModule('groupReactions', "the service's other codes", (code) => isOwn(code) && !coreCodes.has(code));
}

/**
 * Prints the reaction and retry of the other services' codes. Only apps that import these have them in their bundle.
 */
export function internalServiceReactionsModule(): string {
  return rowsModule('internalServiceReactions', "other services' codes", (code) => !isOwn(code));
}

/** Prints the rows of all codes that this service returns, and the types of all codes. */
export function reactionsModule(): string {
  return `import { coreReactions } from './core-reactions.ts';
import { groupReactions } from './group-reactions.ts';
import type { internalServiceReactions } from './internal-service-reactions.ts';

/** Reaction of every error code of the service, and its retry unless that is \`${usualRetry}\`. */
export const reactions = { ...coreReactions, ...groupReactions } as const;

export type OwnErrorCode = keyof typeof reactions;
/** Every code of the catalogue, those of the other services of the family too. */
export type ErrorCode = OwnErrorCode | keyof typeof internalServiceReactions;

type Rows = typeof reactions & typeof internalServiceReactions;
type Mutable<T> = { readonly [K in keyof T]: T[K] };

/** Reaction of the app or the client to an error: a type and its parameters. A \`switch\` over the type is exhaustive. */
export type Reaction = Mutable<Rows[ErrorCode][0]>;

/** Time at which the same request may succeed: after a pause, after a refresh, or never. */
export type Retry = '${usualRetry}' | Extract<Rows[ErrorCode], readonly [unknown, unknown]>[1];
`;
}

function rowsModule(name: string, codes: string, isWanted: (code: string) => boolean): string {
  return `/** Reaction to ${codes}, and the retry unless that is \`${usualRetry}\`. */
export const ${name} = {
${printedRows(isWanted)}
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
