import { InvalidArgumentError } from '@commander-js/extra-typings';
import { validate } from 'uuid';

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Parses a duration into milliseconds, from text such as `90s`, `15m`, `2h`, `7d`. */
export function parseSpan(text: string): number {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  if (count === undefined) throw new InvalidArgumentError('It must be a duration such as 90s, 15m, 2h or 7d.');
  return Number(count) * unitMs[unit as keyof typeof unitMs];
}

/** Parses a point in time, from ISO 8601 text, or from a duration before now. */
export function parseMoment(text: string, now: Date): Date {
  if (/^\d{1,9}[smhd]$/.test(text)) return new Date(now.getTime() - parseSpan(text));
  const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) {
    throw new InvalidArgumentError(
      'It must be a time such as 2026-11-21T09:30:00Z, or a duration before now such as 2h or 7d.',
    );
  }
  return new Date(at);
}

/** Parses a UUID into its stored form, which is lower case. */
export function parseUuid(text: string): string {
  if (!validate(text)) throw new InvalidArgumentError('It must be a UUID.');
  return text.toLowerCase();
}

/** Parses the maximum number of rows to show. */
export function parseLimit(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1 to 999999.');
  return Number(text);
}

/** Creates a parser that takes a text as it is, unless a rule finds a fault in it. */
export const parseUnless = (findFault: (text: string) => string | undefined) => (text: string) => {
  const fault = findFault(text);
  if (fault !== undefined) throw new InvalidArgumentError(fault);
  return text;
};
