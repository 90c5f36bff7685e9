import { randomBytes, randomUUID } from 'node:crypto';
import type { Answer } from '../http-client.ts';
import { type ApiDriver, bearer, dataOf, type Operations } from './api-driver.ts';

/** Returns the header of a device that holds a secret of its own. */
export const newDevice = () => ({ 'X-Device-Secret': randomBytes(16).toString('base64url') });

export const password = 'correct horse battery';

/** Returns an email address that no other test uses. */
export function newEmail(): string {
  return `cook-${randomUUID()}@example.com`;
}

/** A driver with answers of any kind. */
type AnyDriver = Operations<Pick<Answer, 'status' | 'json'>>;

export interface Account {
  readonly email: string;
  readonly user_id: string;
  readonly home_group_id: string;
}

/** Registers a household. Throws if the answer is not 201. */
export async function registerAccount(api: AnyDriver, email = newEmail()): Promise<Account> {
  const body = { email, password, space_creation_mode: 'CREATE_NEW_HOME' } as const;
  const { user_id, home_group_id } = await dataOf(api.registerAccount(body), 201);
  return { email, user_id, home_group_id };
}

export interface TokenPair {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly session_id: string;
  readonly device_id: string;
  readonly push_stream_path: string;
  readonly home_group_id: string;
}

/** Logs in. Throws if the answer is not 200. */
export function logIn(api: AnyDriver, email: string, fields: object = {}): Promise<TokenPair> {
  return dataOf(api.logIn({ email, password, ...fields }));
}

/** Registers and logs in. */
export async function newSession(api: ApiDriver, fields: object = {}): Promise<Account & TokenPair> {
  const account = await registerAccount(api);
  return { ...account, ...(await logIn(api, account.email, fields)) };
}

export function logOut(api: ApiDriver, tokens: Pick<TokenPair, 'access_token' | 'refresh_token'>): Promise<Answer> {
  return api.logOut({ refresh_token: tokens.refresh_token }, bearer(tokens));
}
