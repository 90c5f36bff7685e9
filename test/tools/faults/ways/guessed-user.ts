import type { RouteName } from '@auth-account/contracts';
import { ownTotal, sharedTotal } from '../../../../services/api/src/limits/limits-table.ts';
import { type Input, requestTo } from '../../../support/api-driver.ts';
import { anyOf } from '../load/app.ts';
import { sendFromApp } from '../load/app-request.ts';
import { createWayUser, postRight, registerUser, violate, type WayUser, type WayWorld } from './way-user.ts';

/** A user whose password somebody guesses, from ever new networks and in a session of the user's. */
export interface GuessedUser extends WayUser {
  readonly credentials: { readonly email: string; readonly password: string };
  accessToken: string;
  /** Verdicts on wrong passwords that Redis has counted, and logins that gave a session its own, by age of Redis. */
  readonly verdicts: Record<number, number>;
  readonly logins: Record<number, number>;
  guesses: number;
}

/** Registers a user. Throws if an answer is an error. */
export async function createGuessedUser(world: WayWorld, seed: number, id: number): Promise<GuessedUser> {
  const user = createWayUser(world, 'guessed', { seed, id });
  const credentials = { email: user.email, password: `password of ${user.email}` };
  await registerUser(user, credentials.password);
  return { ...user, credentials, accessToken: '', verdicts: {}, logins: {}, guesses: 0 };
}

const verdict = ['ERR-INVALID-CREDENTIALS', 'ERR-REAUTHENTICATION-FAILED', 'ERR-IDEMPOTENCY-KEY-REUSED'];
/** Guesses of each path at once. */
const atOnce = 3;

/** Sends wrong passwords by all paths at once. Verdicts that an api may have given without Redis do not count. */
export async function guessPassword(user: GuessedUser): Promise<void> {
  const { world, credentials, accessToken, verdicts, logins } = user;
  const age = world.redisAge;
  if (accessToken === '') {
    const { access_token = '' } = await postRight(user, 'logIn', credentials).catch(() => ({}) as never);
    user.accessToken = access_token;
    logins[age] = (logins[age] ?? 0) + 1;
    return;
  }
  const before = await world.insured();
  const wrong = { ...credentials, password: 'of nobody' };
  const paths = [
    () => guess(user, 'logIn', wrong),
    () => guess(user, 'restoreAccount', wrong),
    () => guess(user, 'registerAccount', { ...wrong, space_creation_mode: 'CREATE_NEW_HOME' }),
    () => guess(user, 'exportAccount', { current_password: 'of nobody' }, accessToken),
  ];
  const codes = await Promise.all(paths.flatMap((path) => Array.from({ length: atOnce }, path)));
  if (codes.includes('IAD_JWT_ACCESS_EXPIRED')) user.accessToken = '';
  if (before === undefined || before !== (await world.insured()) || age !== world.redisAge) return;
  verdicts[age] = (verdicts[age] ?? 0) + codes.filter((code) => verdict.includes(code)).length;
}

async function guess<N extends RouteName>(
  user: GuessedUser,
  name: N,
  input: Input<N>,
  accessToken?: string,
): Promise<string> {
  const { world, random, id, timeoutMs, email: idempotencyKey } = user;
  user.guesses += 1;
  const network = `198.18.${user.guesses >> 8}.${user.guesses & 255}`;
  const request = { ...requestTo(name, input), idempotencyKey, network };
  const [requestId, at] = [world.nextRequestId(), world.history.now()];
  const sent = { port: anyOf(random, world.apiPorts), requestId, timeoutMs };
  const reply = await sendFromApp(accessToken ? { ...request, accessToken } : request, sent);
  const { status, code = '' } = reply ?? {};
  const outcome = verdict.includes(code) ? 'refused' : 'unknown';
  const of = { kind: 'wrong password', sort: 'write', person: id, via: `port ${sent.port}` } as const;
  world.history.record({ ...of, requestId, outcome, status, code, at, took: world.history.now() - at });
  return code;
}

/** Checks that no more guesses got a verdict than the account's total allows, which begins anew in an emptied Redis. */
export function checkGuesses(user: GuessedUser, faults: readonly { readonly name: string }[]): void {
  const { verdicts, logins, guesses, world } = user;
  // A kill may lose what Redis has not yet written to its file.
  const lost = 4 * atOnce * faults.filter(({ name }) => name.startsWith('kill -9 of Redis')).length;
  for (const [age, count] of Object.entries(verdicts)) {
    // A session lasts beyond an emptied Redis.
    const most = sharedTotal + ownTotal * (1 + (logins[Number(age)] ?? 0)) + lost;
    world.history.note('guesses', { count, most, guesses });
    if (count > most) violate(user, 'more wrong passwords got a verdict than the total allows', { count, most });
  }
}
