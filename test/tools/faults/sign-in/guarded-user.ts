import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '@auth-account/local-stack';
import type { Collections } from '@auth-account/stores';
import { codeAt } from '../../../support/api/second-factor.ts';
import { patiently } from '../load/app.ts';
import { allowing, callOf, callUntilAnswered, violate } from '../load/app-request.ts';
import { createSignInUser, postRight, registerUser, type SignInUser, type SignInWorld } from './sign-in-user.ts';

/** A user with an authenticator app, who has lost it, orders its removal, and often finds it again. */
export interface GuardedUser extends SignInUser {
  readonly password: string;
  /** Time of the ordered removal; `none`, or `perhaps` while no answer has shown whether there is an order. */
  dueAt: string | 'none' | 'perhaps';
  /** Number of codes that the user has asked for. */
  asked: number;
}

/** Longest wait for a mail, in milliseconds, and the time between two looks. */
const patienceMs = 60_000;
const lookMs = 250;

/** Registers a user and switches the second factor on. Throws if an answer is an error. */
export async function createGuardedUser(world: SignInWorld, seed: number, id: number): Promise<GuardedUser> {
  const user = createSignInUser(world, 'guarded', seed, id);
  const password = `password of ${user.email}`;
  await registerUser(user, password);
  await switchOn(user, password);
  return { ...user, password, dueAt: 'none', asked: 0 };
}

/** Switches the second factor on, and returns its seed. Throws if an answer is an error. */
export async function switchOn(user: SignInUser, current_password: string): Promise<string> {
  const credentials = { email: user.email, password: current_password };
  const { access_token } = await postRight(user, 'logIn', credentials);
  const { factor_id, secret = '' } = await postRight(user, 'createTotp', { current_password }, access_token);
  await postRight(user, 'confirmTotp', { factor_id, code: codeAt(secret) }, access_token);
  return secret;
}

/** Limit for the codes of a user, below the service's own for a day. */
const maxAsked = 80;

/** Orders the removal, or stops it. */
export async function loseFactor(user: GuardedUser): Promise<void> {
  if (user.asked >= maxAsked) return;
  await (user.dueAt === 'none' || user.dueAt === 'perhaps' || user.person.random() < 0.3 ? order(user) : stop(user));
}

async function order(user: GuardedUser): Promise<void> {
  const { world, email, dueAt: before } = user;
  user.asked += 1;
  const asking = callOf('code, second_factor_removal', 'requestSecondFactorRemoval', { email });
  const { reply: asked } = await callUntilAnswered(user, asking);
  if (asked?.status !== 202) {
    if (asked !== undefined) violate(user, 'a code for a removal was refused', asked);
    return;
  }
  const challenge_id = String(asked.data.challenge_id);
  const code = await arrived(user, () => world.mailbox.codeOf(challenge_id)?.code);
  if (code === undefined) return;
  user.dueAt = 'perhaps';
  const ordering = callOf('removal, order', 'confirmSecondFactorRemoval', { challenge_id, code });
  const { reply, wasUnsure } = await callUntilAnswered(user, ordering);
  if (reply?.status === 200) {
    user.dueAt = String(reply.data.due_at);
    const isOther = before !== 'none' && before !== 'perhaps' && before !== user.dueAt;
    if (isOther) violate(user, 'a second order has changed the time of a removal', {}, { before, dueAt: user.dueAt });
  } else if (reply !== undefined) allowing(403, user, 'an order of a removal was refused')(reply, wasUnsure);
}

async function stop(user: GuardedUser): Promise<void> {
  const { world, email, dueAt } = user;
  const stop_token = await arrived(user, () => world.mailbox.stopTokenOf(email, dueAt));
  if (stop_token === undefined) return;
  user.dueAt = 'perhaps';
  const call = callOf('removal, stop', 'stopSecondFactorRemoval', { stop_token });
  const { reply, wasUnsure } = await callUntilAnswered(user, call);
  if (reply === undefined) return;
  user.dueAt = 'none';
  if (reply.status !== 200) allowing(403, user, 'a stop of a removal was refused')(reply, wasUnsure);
}

/** Waits until something is in the mailbox, or until the user has no patience. */
async function arrived(user: GuardedUser, find: () => string | undefined): Promise<string | undefined> {
  const { world } = user;
  const until = world.history.now() + patienceMs;
  while (find() === undefined && world.history.now() < until && world.isOver !== true) await sleep(lookMs);
  return find();
}

/** Time before now to which an order is put back. The worker waits for a minute, because clocks differ. */
const putBackMs = 61_000;
const sweepMs = 60_000;

/**
 * Checks that the removal is ordered as its user knows, and that a login needs the factor. If `isDue`, an order is then
 * put back, so that it is due: from then on the password is enough, before the worker removes the factor and after.
 */
export async function checkRemoval(user: GuardedUser, { users }: Collections, isDue: boolean): Promise<void> {
  const { email, dueAt } = user;
  const stored = (await users.findOne({ email }))?.totp;
  const due = stored?.removal?.due_at.toISOString();
  const isRight = stored !== undefined && (dueAt === 'perhaps' || dueAt === (due ?? 'none'));
  const detail = { dueAt, due, isOn: stored !== undefined };
  if (!isRight) violate(user, 'a removal is not ordered as its user was notified', {}, detail);
  await expectLogin(user, 403);
  if (due === undefined || !isDue) return;
  await users.updateOne({ email }, { $set: { 'totp.removal.due_at': new Date(Date.now() - putBackMs) } });
  await expectLogin(user, 200);
  const isGone = async () => (await users.findOne({ email }))?.totp === undefined;
  const options = { what: 'The removal of a second factor', timeoutMs: sweepMs, intervalMs: 100 };
  await waitUntil(isGone, options).catch((error: Error) => violate(user, error.message, {}, { dueAt }));
  await expectLogin(user, 200);
}

async function expectLogin(user: GuardedUser, status: number): Promise<void> {
  const { email, password } = user;
  const patient = { ...user, world: patiently(user.world, patienceMs) };
  const logIn = () => callUntilAnswered(patient, callOf('login, guarded', 'logIn', { email, password }));
  let { reply } = await logIn();
  // The worker has removed the factor between the check of the password and the session.
  if (reply?.code === 'ERR-INVALID-CREDENTIALS') ({ reply } = await logIn());
  const isDemand = reply?.code === 'ERR-SECOND-FACTOR-REQUIRED';
  if (reply?.status === status && isDemand === (status === 403)) return;
  violate(user, 'a login demands another factor than it should', reply, { expected: status });
}
