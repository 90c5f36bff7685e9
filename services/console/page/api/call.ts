import { createStore } from '@auth-account/page/store.ts';
import type { ErrorAnswer, ErrorCode, Me, reasonHeader, SignedOut, tokenHeader } from '../../src/contract/index.ts';
import { askReason, reason } from './reason.ts';

// The values are repeated here, because the module of the contract would bring the validator into the page.
const token: typeof tokenHeader = 'x-console-token';
const reasonName: typeof reasonHeader = 'x-console-reason';

/** The reader's session: undefined until the server has answered, null if there is none. */
export const me = createStore<Me | null | undefined>(undefined);

/** An answer that is no 2xx, or none at all. */
export class CallError extends Error {
  readonly code: ErrorCode;
  readonly requestId: string | undefined;
  constructor(code: ErrorCode, message = '', requestId?: string) {
    super(message);
    this.code = code;
    this.requestId = requestId;
  }
}

async function errorOf(response: Response): Promise<CallError> {
  const answer: Partial<ErrorAnswer> = await response.json().catch(() => ({}));
  // A proxy before the console answers in its own form.
  if (answer.error === undefined) return new CallError(response.status < 500 ? 'internal' : 'unavailable');
  return new CallError(answer.error.code, answer.error.message, answer.error.request_id);
}

/**
 * Calls the console's api. If it demands a reason, the reader is asked for it, and the call is repeated. Rejects with a
 * `CallError`. A lost session is forgotten, so that the page offers to sign in.
 */
async function call<T>(method: 'GET' | 'POST', path: string, body?: object): Promise<T> {
  const given = reason.read();
  const headers: Record<string, string> = {
    ...(given !== '' && { [reasonName]: encodeURIComponent(given) }),
    ...(method === 'POST' && { [token]: me.read()?.token ?? '' }),
    ...(body && { 'content-type': 'application/json' }),
  };
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  const response = await fetch(path, init).catch(() => undefined);
  if (response === undefined) throw new CallError('unavailable');
  if (response.ok) return response.status === 204 ? (undefined as T) : await response.json();
  const error = await errorOf(response);
  if (error.code === 'signed_out') me.change(() => null);
  // The provider may have taken the role away, and the buttons go with it.
  if (error.code === 'forbidden') await readMe().catch(() => undefined);
  if (error.code !== 'reason_missing') throw error;
  // The reader may have answered the question of an earlier call in the meantime.
  const isAnswered = reason.read() !== given || (await askReason(given === '' ? undefined : error.message));
  if (!isAnswered) throw error;
  return call(method, path, body);
}

export const get = <T>(path: string): Promise<T> => call('GET', path);
export const post = <T>(path: string, body?: object): Promise<T> => call('POST', path, body);

/** Reads the reader's session. */
export const readMe = (): Promise<void> => get<Me>('/api/me').then((found) => me.change(() => found));

/** Ends the session, and goes to the provider's page to end it there too, if there is one. */
export async function signOut(): Promise<void> {
  const { end_session_url } = await post<SignedOut>('/sign-out');
  me.change(() => null);
  if (end_session_url !== null) location.assign(end_session_url);
}
