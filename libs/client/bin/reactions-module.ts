import { catalogue } from '@auth-account/errors';
import { generatedNotice } from './client-routes.ts';

/** Left out of the rows: the bundle pays for every byte. */
const usualRetry = 'never';

/** Reaction and retry of every code of the catalogue, and their types. */
export function reactionsModule(): string {
  const rows = Object.entries(catalogue).map(
    ([code, { reaction, retry }]) =>
      `  ${keyOf(code)}: [${[printed(reaction), ...(retry === usualRetry ? [] : [`'${retry}'`])].join(', ')}],`,
  );
  return `${generatedNotice}
/** Reaction of every code of the error catalogue, and its retry unless that is \`${usualRetry}\`. */
export const reactions = {
${rows.join('\n')}
} as const;

export type ErrorCode = keyof typeof reactions;

type Row = (typeof reactions)[ErrorCode];
type Mutable<T> = { readonly [K in keyof T]: T[K] };

/** Reaction of the app or the client to an error: a type and its parameters. A \`switch\` over the type is exhaustive. */
export type Reaction = Mutable<Row[0]>;

/** Time at which the same request may succeed: after a pause, after a refresh, or never. */
export type Retry = '${usualRetry}' | Extract<Row, readonly [unknown, unknown]>[1];
`;
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
