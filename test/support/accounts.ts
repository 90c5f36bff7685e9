import { randomBytes, randomUUID } from 'node:crypto';
import type { Answer } from './http-client.ts';

/** The part of an api that these functions need. A `TestApi` has it, and a client of a running stack has it too. */
export interface ApiClient {
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
}

/** Returns the header of a device that holds a secret of its own. */
export const newDevice = () => ({ 'X-Device-Secret': randomBytes(16).toString('base64url') });

/** Returns the client with those headers on every request. */
export const withHeaders = <C extends ApiClient>(client: C, own: object): C => ({
  ...client,
  post: (path: string, body: unknown, headers: object = {}) => client.post(path, body, { ...own, ...headers }),
});

export const password = 'correct horse battery';

/** Returns an address that no other test uses. */
export function newEmail(): string {
  return `cook-${randomUUID()}@example.com`;
}

export interface Account {
  readonly email: string;
  readonly user_id: string;
  readonly home_group_id: string;
}

/** Registers a household. Throws if the answer is not 201. */
export async function registerAccount(api: ApiClient, email = newEmail()): Promise<Account> {
  const answer = await api.post('/api/v1/auth/register', { email, password, space_creation_mode: 'CREATE_NEW_HOME' });
  if (answer.status !== 201) throw new Error(`registration answered ${answer.status}: ${answer.text}`);
  return { email, user_id: answer.json.data.user_id, home_group_id: answer.json.data.home_group_id };
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
export async function logIn(api: ApiClient, email: string, fields: object = {}): Promise<TokenPair> {
  const answer = await api.post('/api/v1/auth/login', { email, password, ...fields });
  if (answer.status !== 200) throw new Error(`login answered ${answer.status}: ${answer.text}`);
  return answer.json.data;
}

/** Registers and logs in. */
export async function newSession(api: ApiClient, fields: object = {}): Promise<Account & TokenPair> {
  const account = await registerAccount(api);
  return { ...account, ...(await logIn(api, account.email, fields)) };
}

export function logOut(api: ApiClient, tokens: Pick<TokenPair, 'access_token' | 'refresh_token'>): Promise<Answer> {
  const { access_token, refresh_token } = tokens;
  return api.post('/api/v1/auth/logout', { refresh_token }, { Authorization: `Bearer ${access_token}` });
}
