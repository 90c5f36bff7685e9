import { waitUntil } from '@auth-account/local-stack';
import type { Collections } from '@auth-account/stores';
import { patiently } from '../load/app.ts';
import type { FaultRecord } from '../report/print-report.ts';
import { type FederatedUser, providerName } from './federated-user.ts';
import type { GuardedUser } from './guarded-user.ts';
import { checkGuesses } from './guessed-user.ts';
import { post, violate } from './sign-in-user.ts';
import type { SignInUsers } from './start-sign-in-users.ts';

type Stores = Pick<Collections, 'users' | 'sessions'>;

/** Time before now to which an order is put back. The worker waits for a minute, because clocks differ. */
const putBackMs = 61_000;
const sweepMs = 60_000;
const patienceMs = 60_000;

/** Compares the accounts of these users with the answers that they got. */
export async function checkSignInUsers(
  { federated, guarded, guessed }: SignInUsers,
  stores: Stores,
  faults: readonly FaultRecord[],
): Promise<void> {
  for (const user of guessed) checkGuesses(user, faults);
  await Promise.all(federated.map((user) => checkIdentity(user, stores)));
  await Promise.all(guarded.map((user) => checkRemoval(user, stores)));
}

/** Checks that an identity has one account, and that each challenge has opened one session at most. */
async function checkIdentity(user: FederatedUser, { users, sessions }: Stores): Promise<void> {
  const { sub, registration, logins } = user;
  const holders = await users.find({ identities: { $elemMatch: { provider: providerName, sub } } }).toArray();
  const ids = holders.map(({ _id }) => _id);
  const expected = registration.userId;
  const isRight = expected === undefined ? ids.length <= 1 : ids.join() === expected;
  if (!isRight) violate(user, 'an identity has not one account', { ids, expected });
  const opened = await sessions.countDocuments({ user_id: { $in: ids } });
  if (opened > logins) violate(user, 'challenges have opened more than one session each', { opened, logins });
}

/**
 * Checks that the removal is ordered as its user knows, and that a login needs the factor. Then every other removal
 * is put back, so that it is due: from then on the password is enough, before the worker removes the factor and after.
 */
async function checkRemoval(user: GuardedUser, { users }: Stores): Promise<void> {
  const { email, dueAt } = user;
  const stored = (await users.findOne({ email }))?.totp;
  const due = stored?.removal?.due_at.toISOString();
  const isRight = stored !== undefined && (dueAt === 'perhaps' || dueAt === (due ?? 'none'));
  if (!isRight)
    violate(user, 'a removal is not ordered as its user was notified', { dueAt, due, isOn: stored !== undefined });
  await expectLogin(user, 403);
  if (due === undefined || user.id % 2 === 0) return;
  await users.updateOne({ email }, { $set: { 'totp.removal.due_at': new Date(Date.now() - putBackMs) } });
  await expectLogin(user, 200);
  const isGone = async () => (await users.findOne({ email }))?.totp === undefined;
  const options = { what: 'The removal of a second factor', timeoutMs: sweepMs, intervalMs: 100 };
  await waitUntil(isGone, options).catch((error: Error) => violate(user, error.message, { dueAt }));
  await expectLogin(user, 200);
}

async function expectLogin(user: GuardedUser, status: number): Promise<void> {
  const { email, password } = user;
  const patient = { ...user, world: patiently(user.world, patienceMs) };
  const logIn = () => post(patient, 'login, guarded', 'logIn', { email, password });
  let { reply } = await logIn();
  // The worker has removed the factor between the check of the password and the session.
  if (reply?.code === 'ERR-INVALID-CREDENTIALS') ({ reply } = await logIn());
  const isDemand = reply?.code === 'ERR-SECOND-FACTOR-REQUIRED';
  if (reply?.status === status && isDemand === (status === 403)) return;
  violate(user, 'a login demands another factor than it should', { status, got: reply?.status, code: reply?.code });
}
