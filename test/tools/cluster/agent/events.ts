import { ask } from './ask.ts';
import type { ArrivalsReport, RegistrationsReport } from './protocol.ts';
import { register } from './sessions.ts';

/** The receiver in the same pod. */
const receiver = 'http://127.0.0.1:8090';
/** Number of registrations at once, which is small because each costs a hash. */
const atOnce = 8;

/** Registers accounts, to cause events. */
export async function registerMany({ api, count }: { api: string; count: number }): Promise<RegistrationsReport> {
  const users: string[] = [];
  while (users.length < count) {
    const batch = Array.from({ length: Math.min(atOnce, count - users.length) }, () => register(api));
    users.push(...(await Promise.all(batch)).map(({ user_id }) => user_id));
  }
  return { users };
}

/** Has the receiver take `ms` milliseconds for each delivery, and answer with `status`. */
export async function paceReceiver({ ms, status = 204 }: { ms: number; status?: number }): Promise<null> {
  await ask({ url: `${receiver}/pace/${ms}/${status}`, method: 'PUT' });
  return null;
}

/** Counts the events that have arrived about these accounts. */
export async function countArrivals({ users }: RegistrationsReport): Promise<ArrivalsReport> {
  const { json } = await ask({ url: `${receiver}/deliveries`, method: 'GET' });
  const wanted = new Set(users);
  const ours = Object.entries(json as Record<string, string[]>).filter(([subject]) => wanted.has(subject));
  const deliveries = ours.reduce((sum, [, ids]) => sum + ids.length, 0);
  const events = ours.reduce((sum, [, ids]) => sum + new Set(ids).size, 0);
  return { users: ours.length, events, repeated: deliveries - events };
}
