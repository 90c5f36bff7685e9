import type { AccountType } from '@auth-account/contracts';
import { RegisterRequest } from '@auth-account/contracts/http/register';
import { emailAsMeant } from '@auth-account/stores';
import { Compile } from 'typebox/schema';
import { findHashFault } from './find-hash-fault.ts';

export const importFields = ['email', 'password_hash', 'account_type', 'created_at', 'group'] as const;
type ImportField = (typeof importFields)[number];
export const requiredFields: readonly ImportField[] = ['email', 'password_hash', 'account_type'];

/** One account to be created. */
export interface ImportRecord {
  readonly line: number;
  readonly email: string;
  readonly passwordHash: string;
  readonly accountType: AccountType;
  readonly createdAt: Date;
  /** Accounts with the same key join one group; an account without a key gets its own. */
  readonly groupKey: string | undefined;
}

const email = Compile(RegisterRequest.properties.email);
const accountTypes: readonly string[] = ['HOME', 'OFFICE'] satisfies AccountType[];

/** Returns the account of a line, or the reason why the line has none. Empty text counts as absent. */
export function parseImportRecord(
  fields: Readonly<Record<string, unknown>>,
  line: number,
  now: Date,
): ImportRecord | { readonly reason: string } {
  const given = Object.entries(fields).filter(([, value]) => value !== '' && value !== null);
  const values = Object.fromEntries(given.map(([name, value]) => [name, name === 'email' ? readEmail(value) : value]));
  const reason = findFault(values, now);
  if (reason !== undefined) return { reason };
  const { email, password_hash, account_type, created_at, group } = values as Record<ImportField, string | undefined>;
  return {
    line,
    email: email ?? '',
    passwordHash: password_hash ?? '',
    accountType: account_type as AccountType,
    createdAt: created_at === undefined ? now : new Date(created_at),
    groupKey: group,
  };
}

const readEmail = (value: unknown) => (typeof value === 'string' ? emailAsMeant(value) : value);

function findFault(values: Readonly<Record<string, unknown>>, now: Date): string | undefined {
  const unknown = Object.keys(values).find((name) => !(importFields as readonly string[]).includes(name));
  if (unknown !== undefined) return `there is no field ${JSON.stringify(unknown.slice(0, 40))}`;
  const missing = requiredFields.find((name) => values[name] === undefined);
  if (missing !== undefined) return `${missing} is missing`;
  const noText = Object.keys(values).find((name) => typeof values[name] !== 'string');
  if (noText !== undefined) return `${noText} is no text`;
  const { email: address, password_hash, account_type, created_at, group } = values as Record<string, string>;
  if (!email.Check(address)) return 'email is no email address that can register';
  if (!accountTypes.includes(account_type ?? '')) return `account_type is neither of ${accountTypes.join(', ')}`;
  if (created_at !== undefined && !isPast(created_at, now)) return 'created_at is no time in ISO 8601, or not past';
  if (group !== undefined && group.length > 200) return 'group has more than 200 characters';
  return findHashFault(password_hash ?? '');
}

function isPast(text: string, now: Date): boolean {
  const at = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  return at <= now.getTime();
}
