import { setTimeout as sleep } from 'node:timers/promises';
import { codeAt } from '../../../support/api/second-factor.ts';
import {
  createSignInUser,
  post,
  postRight,
  registerUser,
  type SignInUser,
  type SignInWorld,
  violate,
} from './sign-in-user.ts';

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
  const user = createSignInUser(world, 'guarded', { seed, id });
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
  await (user.dueAt === 'none' || user.dueAt === 'perhaps' || user.random() < 0.3 ? order(user) : stop(user));
}

async function order(user: GuardedUser): Promise<void> {
  const { world, email } = user;
  user.asked += 1;
  const { reply: asked } = await post(user, 'code, second_factor_removal', 'requestSecondFactorRemoval', { email });
  if (asked?.status !== 202) {
    if (asked !== undefined) violate(user, 'a code for a removal was refused', asked);
    return;
  }
  const challenge_id = String(asked.data.challenge_id);
  const code = await arrived(user, () => world.mailbox.codeOf(challenge_id)?.code);
  if (code === undefined) return;
  const before = user.dueAt;
  user.dueAt = 'perhaps';
  const { reply, wasUnsure } = await post(user, 'removal, order', 'confirmSecondFactorRemoval', { challenge_id, code });
  if (reply?.status === 200) {
    user.dueAt = String(reply.data.due_at);
    const isOther = before !== 'none' && before !== 'perhaps' && before !== user.dueAt;
    if (isOther) violate(user, 'a second order has changed the time of a removal', { before, dueAt: user.dueAt });
  } else if (reply !== undefined && !(wasUnsure && reply.status === 403)) {
    violate(user, 'an order of a removal was refused', reply);
  }
}

async function stop(user: GuardedUser): Promise<void> {
  const { world, email, dueAt } = user;
  const stop_token = await arrived(user, () => world.mailbox.stopTokenOf(email, dueAt));
  if (stop_token === undefined) return;
  user.dueAt = 'perhaps';
  const { reply, wasUnsure } = await post(user, 'removal, stop', 'stopSecondFactorRemoval', { stop_token });
  if (reply === undefined) return;
  user.dueAt = 'none';
  const isDone = reply.status === 200 || (wasUnsure && reply.status === 403);
  if (!isDone) violate(user, 'a stop of a removal was refused', reply);
}

/** Waits until something is in the mailbox, or until the user has no patience. */
async function arrived(user: GuardedUser, find: () => string | undefined): Promise<string | undefined> {
  const { world } = user;
  const until = world.history.now() + patienceMs;
  while (find() === undefined && world.history.now() < until && world.isOver !== true) await sleep(lookMs);
  return find();
}
