import {
  type Account,
  logIn as logInBy,
  password,
  registerAccount,
  type TokenPair,
} from '../../../support/api/accounts.ts';
import { openGreeted, type StreamClient } from '../../../support/gateway/push-client.ts';
import { apiAt } from './ask.ts';

/** The URLs of api and gateway. */
export interface Target {
  readonly api: string;
  readonly push: string;
}

export interface StreamsOrder extends Target {
  readonly streams: number;
}

/** An account with one session. */
export type Session = TokenPair & Pick<Account, 'email'>;

/** Returns an address to which no mail is ever delivered. */
export const newEmail = () => `${crypto.randomUUID()}@cluster.invalid`;

/** Returns the body of a registration. */
export const newAccount = () => ({ email: newEmail(), password, space_creation_mode: 'CREATE_NEW_HOME' }) as const;

export const register = (api: string): Promise<Account> => registerAccount(apiAt(api), newEmail());

/** Logs in on the given device, or on a new one. */
export async function logIn(api: string, email: string, device_id: string = crypto.randomUUID()): Promise<Session> {
  return { ...(await logInBy(apiAt(api), email, { device_id })), email };
}

/** Does the work this number of times, few at once, because each costs a hash or two. */
export async function inBatches<T>(count: number, work: () => Promise<T>): Promise<T[]> {
  const done: T[] = [];
  while (done.length < count) {
    const batch = Array.from({ length: Math.min(4, count - done.length) }, work);
    done.push(...(await Promise.all(batch)));
  }
  return done;
}

/** Creates accounts with a session each. */
export function newSessions(api: string, count: number): Promise<Session[]> {
  return inBatches(count, async () => logIn(api, (await register(api)).email));
}

/** The part of the handshake that carries the access token. */
export type StreamCredentials = 'header' | 'subprotocol';

/** Opens a push stream without retries, and waits for `hello`. Throws if the handshake is refused or fails. */
export function openStream(
  push: string,
  { session_id, access_token: token }: Pick<Session, 'session_id' | 'access_token'>,
  by: StreamCredentials = 'header',
): Promise<StreamClient> {
  const url = `${push.replace(/^http/, 'ws')}/ws/push-stream/${session_id}`;
  const credentials = by === 'header' ? { token } : { subprotocols: ['bearer', token] };
  return openGreeted(url, { ...credentials, handshakeTimeout: 10_000 }, 0);
}
