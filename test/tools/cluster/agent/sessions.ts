import { dataOf } from '../../../support/api/api-driver.ts';
import { openGreeted, type StreamClient } from '../../../support/gateway/push-client.ts';
import { apiAt } from './ask.ts';

export const password = 'correct horse battery staple';

/** An account with one session. */
export interface Session {
  readonly email: string;
  readonly device_id: string;
  readonly user_id: string;
  readonly session_id: string;
  readonly access_token: string;
  readonly refresh_token: string;
}

export async function register(api: string): Promise<{ readonly email: string; readonly user_id: string }> {
  const email = `${crypto.randomUUID()}@cluster.invalid`;
  const body = { email, password, space_creation_mode: 'CREATE_NEW_HOME' };
  return { email, user_id: (await dataOf(apiAt(api).registerAccount(body), 201)).user_id };
}

/** Logs in on the given device, or on a new one. */
export async function logIn(api: string, email: string, device_id: string = crypto.randomUUID()): Promise<Session> {
  return { ...(await dataOf(apiAt(api).logIn({ email, password, device_id }))), email };
}

/** Creates accounts with a session each. It creates few at once, because each costs two hashes. */
export async function newSessions(api: string, count: number): Promise<Session[]> {
  const sessions: Session[] = [];
  while (sessions.length < count) {
    const batch = Array.from({ length: Math.min(4, count - sessions.length) }, async () => {
      const { email } = await register(api);
      return logIn(api, email);
    });
    sessions.push(...(await Promise.all(batch)));
  }
  return sessions;
}

/** The part of the handshake that carries the access token. */
export type StreamCredentials = 'header' | 'subprotocol';

/** Opens a push stream without retries, and waits for `hello`. Throws if the handshake is refused or fails. */
export function openStream(
  push: string,
  { session_id, access_token: token }: Session,
  by: StreamCredentials = 'header',
): Promise<StreamClient> {
  const url = `${push.replace(/^http/, 'ws')}/ws/push-stream/${session_id}`;
  const credentials = by === 'header' ? { token } : { subprotocols: ['bearer', token] };
  return openGreeted(url, { ...credentials, handshakeTimeout: 10_000 }, 0);
}
