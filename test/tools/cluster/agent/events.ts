import { setTimeout as sleep } from 'node:timers/promises';
import { bearer } from '../../../support/api/api-driver.ts';
import { apiAt, ask } from './ask.ts';
import { inBatches, logIn, openStream, register, type Target } from './sessions.ts';

/** The receiver in the same pod. */
const receiver = 'http://127.0.0.1:8090';
const eventLimitMs = 60_000;

/** Returns the deliveries, oldest first, by the account that they are about. */
async function readDeliveries(): Promise<Record<string, { readonly id: string; readonly type: string }[]>> {
  return (await ask({ url: `${receiver}/deliveries`, method: 'GET' })).json;
}

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
  const all = await readDeliveries();
  const ours = accounts.flatMap((account) => all[account] ?? []);
  const events = new Set(ours.map(({ id }) => id)).size;
  return { users: accounts.filter((account) => account in all).length, events, repeated: ours.length - events };
}

/**
 * Registers, waits for the event, logs in, opens a stream, and logs out twice. Throws if an answer violates the
 * contract. Does not use the client of apps, because that closes its stream before a logout, so that it never sees the
 * gateway's close, and takes the second logout's 404 for a success.
 */
export async function walkMainPath({ api, push }: Target) {
  const { email, user_id } = await register(api);
  const eventType = await waitForEvent(user_id);
  const session = await logIn(api, email);
  const stream = await openStream(push, session);
  const logOut = async () => (await apiAt(api).logOut(session, bearer(session))).status;
  const first = await logOut();
  const { code, reason } = await stream.closed;
  return { eventType, first, end: `${code} ${reason}`, again: await logOut() };
}

/** Waits for the first event about the account, and returns its type. */
async function waitForEvent(userId: string): Promise<string> {
  const deadline = performance.now() + eventLimitMs;
  while (performance.now() < deadline) {
    const [first] = (await readDeliveries())[userId] ?? [];
    if (first !== undefined) return first.type;
    await sleep(100);
  }
  throw new Error(`no event about ${userId} came within ${eventLimitMs} ms`);
}
