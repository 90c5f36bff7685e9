import { waitUntil } from '@auth-account/local-stack';
import type { Collections } from '@auth-account/stores';
import type { History } from '../load/history.ts';

/** Milliseconds within which running workers must erase every account that is due. */
const drainMs = 90_000;

/** Waits until no account is due. Ends the leases of killed workers at once, instead of a minute later. */
export async function waitForErasures(
  { users }: Pick<Collections, 'users'>,
  history: History,
  patienceMs = drainMs,
): Promise<void> {
  const due = { deletes_at: { $lte: new Date() } };
  await users.updateMany({ ...due, erasure: { $exists: true } }, { $set: { 'erasure.until': new Date(0) } });
  const isDone = async () => (await users.countDocuments(due)) === 0;
  const options = { what: 'The erasures', timeoutMs: patienceMs, intervalMs: 100 };
  await waitUntil(isDone, options).catch(() => history.violate('accounts were not erased', due));
}
