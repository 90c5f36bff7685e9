import { setTimeout as sleep } from 'node:timers/promises';
import { bearer } from '../../../support/api/api-driver.ts';
import { apiAt, ask } from './ask.ts';
import { inBatches, logIn, openStream, register, type Target } from './sessions.ts';

/** The receiver in the same pod. */
const receiver = 'http://127.0.0.1:8090';
const eventLimitMs = 60_000;

/** Registers accounts, to cause events, and returns their ids. */
export async function registerMany({ api, count }: { api: string; count: number }): Promise<string[]> {
  return (await inBatches(count, () => register(api))).map(({ user_id }) => user_id);
}

/** Has the receiver take `ms` milliseconds for each delivery, and answer with `status`. */
export async function paceReceiver({ ms, status = 204 }: { ms: number; status?: number }): Promise<void> {
  await ask({ url: `${receiver}/pace/${ms}/${status}`, method: 'PUT' });
}

/** Counts the events that have arrived about these accounts. */
export async function countArrivals(accounts: readonly string[]) {
  const { json } = await ask({ url: `${receiver}/deliveries`, method: 'GET' });
  const wanted = new Set(accounts);
  const ours = Object.entries(json as Record<string, string[]>).filter(([subject]) => wanted.has(subject));
  const deliveries = ours.reduce((sum, [, ids]) => sum + ids.length, 0);
  const events = ours.reduce((sum, [, ids]) => sum + new Set(ids).size, 0);
  return { users: ours.length, events, repeated: deliveries - events };
}

/**
 * Registers, waits for the event, logs in, opens a stream, and logs out twice. Throws if an answer violates the
 * contract. Does not use the client of apps, because that closes its stream before a logout, so that it never sees the
 * gateway's close, and takes the second logout's 404 for a success.
 */
export async function walkMainPath({ api, push }: Target) {
  const start = performance.now();
  const { email, user_id } = await register(api);
  const registerMs = performance.now() - start;
  const registeredAt = Date.now();
  const event = await waitForEvent(user_id);
  const beforeLogin = performance.now();
  const session = await logIn(api, email);
  const loginMs = performance.now() - beforeLogin;
  const stream = await openStream(push, session);

  const logOut = () => apiAt(api).logOut(session, bearer(session));
  const beforeLogout = performance.now();
  const { status, ms: logoutMs } = await logOut();
  if (status !== 200) throw new Error(`the logout was answered ${status}`);
  const { code, reason, at } = await stream.closed;
  const again = (await logOut()).status;
  return {
    ...{ registerMs, loginMs, logoutMs, closeMs: at - beforeLogout, eventMs: event.at - registeredAt },
    ...{ end: `${code} ${reason}`, eventType: event.type, again },
  };
}

async function waitForEvent(userId: string): Promise<{ readonly type: string; readonly at: number }> {
  const deadline = performance.now() + eventLimitMs;
  while (performance.now() < deadline) {
    const { json } = await ask({ url: `${receiver}/arrivals/${userId}`, method: 'GET' });
    if (json !== null) return json;
    await sleep(10);
  }
  throw new Error(`no event about ${userId} came within ${eventLimitMs} ms`);
}
