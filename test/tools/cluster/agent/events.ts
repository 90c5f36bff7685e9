import { ask } from './ask.ts';
import { inBatches, register } from './sessions.ts';

/** The receiver in the same pod. */
const receiver = 'http://127.0.0.1:8090';

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
