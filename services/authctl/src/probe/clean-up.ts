import type { Mongo } from '@auth-account/operations';
import { emailKey } from '@auth-account/stores';
import { probeEmails } from './probe-accounts.ts';
import { awaitDelivery, removeOldEvents } from './probe-events.ts';
import type { ProbePlan } from './probe-plan.ts';
import { removeAccount } from './remove-account.ts';

/** Data that a run left in the database. */
export interface Traces {
  readonly requestId: string;
  /** Email address that the run registered, or tried to; undefined if it used an existing account. */
  readonly email: string | undefined;
  /** Session that the run opened. */
  readonly sessionId: string | undefined;
}

/**
 * `done`: nothing of the run is left. `waiting`: only the run's event is left, because a subscriber does not have it
 * yet. A later run removes it. `skipped`: no database is configured. `failed`: see `fault`.
 */
export interface CleanUpReport {
  readonly outcome: 'done' | 'waiting' | 'skipped' | 'failed';
  /** Number of accounts and events of earlier runs that were removed. */
  readonly leftovers: number;
  readonly fault?: string;
}

export interface CleanUpOptions {
  readonly plan: Pick<ProbePlan, 'emailDomain' | 'eventWaitMs'>;
  readonly now: () => Date;
  readonly stop: AbortSignal;
}

/** Milliseconds after which no probe uses an account any more. */
const leftoverAgeMs = 3_600_000;
/** Limit for the accounts that one run removes. The next run removes more. */
const batch = 1_000;

/** Removes the data of this run, then the data of earlier runs that were interrupted before their own cleanup. */
export async function cleanUp(mongo: Mongo, traces: Traces, options: CleanUpOptions): Promise<CleanUpReport> {
  const isSettled = await cleanUpOwn(mongo, traces, options);
  const leftovers = await cleanUpLeftovers(mongo, options);
  return { outcome: isSettled ? 'done' : 'waiting', leftovers };
}

async function cleanUpOwn(
  mongo: Mongo,
  { requestId, email, sessionId }: Traces,
  { plan, stop }: CleanUpOptions,
): Promise<boolean> {
  const { users, sessions } = mongo.collections;
  if (email === undefined) {
    if (sessionId !== undefined) await sessions.deleteOne({ _id: sessionId });
    return true;
  }
  const user = await users.findOne({ email_key: emailKey(email) });
  if (user === null) return true;
  const isDelivered = await awaitDelivery(mongo.collections, requestId, { waitMs: plan.eventWaitMs, stop });
  await removeAccount(mongo, user);
  return isDelivered;
}

async function cleanUpLeftovers(mongo: Mongo, { plan, now, stop }: CleanUpOptions): Promise<number> {
  const before = new Date(now().getTime() - leftoverAgeMs);
  const ofProbes = { email_key: probeEmails(plan.emailDomain), created_at: { $lt: before } };
  let removed = 0;
  for await (const user of mongo.collections.users.find(ofProbes).limit(batch)) {
    if (stop.aborted) return removed;
    if ((await removeAccount(mongo, user)) === 'removed') removed += 1;
  }
  return removed + (await removeOldEvents(mongo, before));
}
