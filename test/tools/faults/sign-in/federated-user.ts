import { randomUUID } from 'node:crypto';
import type { Collections } from '@auth-account/stores';
import type { Input } from '../../../support/api/api-driver.ts';
import { callOf, callUntilAnswered, violate } from '../load/app-request.ts';
import { createSignInUser, type SignInUser, type SignInWorld } from './sign-in-user.ts';

/** A user with an identity at the provider, and no password. */
export interface FederatedUser extends SignInUser {
  readonly sub: string;
  readonly deviceId: string;
  /** Number of challenges with which the user has tried to log in. */
  logins: number;
  /** The body of a login that has got its session, and its time. */
  used?: { readonly body: Input<'logInByProvider'>; readonly at: number } | undefined;
}

export const providerName = 'office';

/** Milliseconds after which a used challenge no longer gets its session again, with a margin for clocks. */
const repeatMs = 130_000;

export function createFederatedUser(world: SignInWorld, seed: number, id: number): FederatedUser {
  const user = createSignInUser(world, 'identity', seed, id);
  return { ...user, sub: `${seed}-${id}`, deviceId: randomUUID(), logins: 0 };
}

/** Returns a new challenge with an ID token for it; undefined without an answer. */
export async function newProof(user: SignInUser, sub: string) {
  const { world, email } = user;
  const { reply: asked } = await callUntilAnswered(user, callOf('federated challenge', 'createFederatedChallenge'));
  if (asked?.status !== 200) {
    if (asked !== undefined) violate(user, 'a challenge for a provider was refused', asked);
    return;
  }
  const { challenge_id, nonce } = asked.data;
  const iat = Math.floor(Date.now() / 1_000) - 5;
  const claims = { aud: 'app', sub, email, email_verified: true, nonce, iat };
  return { challenge_id: String(challenge_id), id_token: await world.provider.sign(claims) };
}

/** Logs in, or registers if the account is not there yet. */
export async function logInByProvider(user: FederatedUser): Promise<void> {
  const { world, sub, deviceId, registration } = user;
  if (user.used !== undefined && world.history.now() - user.used.at > repeatMs) return reuse(user, user.used.body);
  const proof = await newProof(user, sub);
  if (proof === undefined) return;
  user.logins += 1;
  const given = { provider: providerName, ...proof, device_id: deviceId, space_creation_mode: 'CREATE_NEW_HOME' };
  const { reply, wasUnsure } = await callUntilAnswered(user, callOf('login, provider', 'logInByProvider', given));
  if (reply === undefined) return;
  if (reply.status >= 300) {
    // A repeat after a minute finds the challenge used.
    if (!(wasUnsure && reply.status === 410)) violate(user, 'a login by a provider was refused', reply);
    return;
  }
  const userId = String(reply.data.user_id);
  if (registration.userId !== undefined && registration.userId !== userId) {
    violate(user, 'one identity has two accounts', {}, { userId, expected: registration.userId });
  }
  registration.userId = userId;
  registration.outcome = 'acknowledged';
  user.used = { body: given, at: world.history.now() };
}

/** Uses an earlier challenge again, which must open no session. */
async function reuse(user: FederatedUser, body: Input<'logInByProvider'>): Promise<void> {
  user.used = undefined;
  const { reply } = await callUntilAnswered(user, callOf('login, used challenge', 'logInByProvider', body));
  if (reply === undefined || reply.status === 410 || reply.status === 401) return;
  violate(user, 'a used challenge was not refused', reply);
}

/** Checks that an identity has one account, and that each challenge has opened one session at most. */
export async function checkIdentity(user: FederatedUser, { users, sessions }: Collections): Promise<void> {
  const { sub, registration, logins } = user;
  const holders = await users.find({ identities: { $elemMatch: { provider: providerName, sub } } }).toArray();
  const ids = holders.map(({ _id }) => _id);
  const expected = registration.userId;
  const isRight = expected === undefined ? ids.length <= 1 : ids.join() === expected;
  if (!isRight) violate(user, 'an identity has not one account', {}, { ids, expected });
  const opened = await sessions.countDocuments({ user_id: { $in: ids } });
  if (opened > logins) violate(user, 'challenges have opened more than one session each', {}, { opened, logins });
}
