import { randomUUID } from 'node:crypto';
import type { RouteName } from '@auth-account/contracts';
import { ownTotal, sharedTotal } from '@auth-account/redis';
import type { Input } from '../../../support/api/api-driver.ts';
import { codeAt, wrongCodeFor } from '../../../support/api/second-factor.ts';
import { callOf, callOnce, callUntilAnswered, type Reply, violate } from '../load/app-request.ts';
import { newProof, providerName } from './federated-user.ts';
import { switchOn } from './guarded-user.ts';
import { createSignInUser, postRight, registerUser, type SignInUser, type SignInWorld } from './sign-in-user.ts';

type Attempt = readonly [name: RouteName, input: Readonly<Record<string, unknown>>, accessToken?: string | undefined];

/** A user one of whose secrets a thief guesses, from ever new networks. Everything else that he needs for it he has. */
export interface GuessedUser extends SignInUser {
  readonly secret: 'password' | 'factor' | 'code';
  readonly credentials: { readonly email: string; readonly password: string };
  /** The device that is trusted, and its token, if the second factor is guessed. */
  readonly device: object;
  readonly wrongCode: string;
  /** A wrong guess by each path; none before the thief has prepared them, and once a session or challenge is over. */
  guesses: readonly Attempt[];
  /** Wrong guesses that got a verdict, by the count that has them: of a mailed code, or of Redis since its loss. */
  readonly verdicts: Map<unknown, number>;
  sent: number;
}

/** Registers a user. Throws if an answer is an error. */
export async function createGuessedUser(
  world: SignInWorld,
  seed: number,
  secret: GuessedUser['secret'],
): Promise<GuessedUser> {
  const user = createSignInUser(world, `guessed-${secret}`, seed, 0);
  const { email } = user;
  const credentials = { email, password: `password of ${email}` };
  await registerUser(user, credentials.password);
  const knowledge = { secret, credentials, device: {}, wrongCode: '' };
  const guessed = { ...user, ...knowledge, guesses: [], verdicts: new Map(), sent: 0 };
  if (secret !== 'factor') return guessed;
  const totp = await switchOn(user, credentials.password);
  const { reply } = await callUntilAnswered(user, callOf('set-up', 'logIn', credentials));
  const challenge_id = String(reply?.details.challenge_id);
  const proof = { challenge_id, method: 'totp', code: codeAt(totp, Date.now(), 1), trust_device: true };
  const { device_id, trusted_device_token } = await postRight(user, 'confirmSecondFactor', proof);
  return { ...guessed, device: { device_id, trusted_device_token }, wrongCode: wrongCodeFor(totp) };
}

async function send(user: GuessedUser, [name, input, accessToken]: Attempt, kind: string, network?: string) {
  // The key repeats the registration, and the thief's login. Without it, each login opens another session.
  const idempotencyKey = user.secret === 'password' ? user.email : undefined;
  const call = callOf(kind, name, input as Input<RouteName>, { accessToken, idempotencyKey, network });
  return (await callOnce(user, call)).reply;
}

const codes = [
  ['requestPasswordReset', 'confirmPasswordReset'],
  ['requestDeletion', 'confirmDeletion'],
  ['requestSecondFactorRemoval', 'confirmSecondFactorRemoval'],
  ['requestLoginCode', 'logInByCode'],
] as const;

/** Returns a wrong guess by each path. Throws if an answer on the way is missing, or not the usual one. */
async function prepare(user: GuessedUser): Promise<readonly Attempt[]> {
  const { secret, credentials, device, wrongCode, email } = user;
  const ask = async (status: number, ...attempt: Attempt) => {
    const reply = await send(user, attempt, 'guess, set-up');
    if (reply?.status !== status) throw new Error(`${attempt[0]} answered ${reply?.status}`);
    return { ...reply.data, ...reply.details } as Readonly<Record<string, string>>;
  };
  if (secret === 'code') {
    const asked = codes.map(async ([request, confirm]): Promise<Attempt> => {
      const { challenge_id } = await ask(202, request, { email });
      return [confirm, { challenge_id, code: '00000000', new_password: 'of nobody' }];
    });
    return Promise.all(asked);
  }
  const { access_token } = await ask(200, 'logIn', { ...credentials, ...device });
  const stepUp = await ask(200, 'createStepUpChallenge', { purpose: 'export' }, access_token);
  const proof = (await newProof(user, randomUUID())) ?? {};
  const { link_challenge_id } = await ask(409, 'logInByProvider', { provider: providerName, ...proof });
  const password = 'of nobody';
  if (secret === 'password') {
    return [
      ['logIn', { email, password }],
      ['restoreAccount', { email, password }],
      ['registerAccount', { email, password, space_creation_mode: 'CREATE_NEW_HOME' }],
      ['linkByProof', { link_challenge_id, password }],
      ['exportAccount', { current_password: password }, access_token],
      ['confirmStepUp', { ...stepUp, method: 'password', password }, access_token],
    ];
  }
  const login = await ask(403, 'logIn', credentials);
  const link = await ask(403, 'linkByProof', { link_challenge_id, password: credentials.password });
  const wrong = [
    { method: 'totp', code: wrongCode },
    { method: 'recovery_code', code: 'aaaaa-aaaaa-aaaaa-aaaaa-aaaaa' },
  ];
  return wrong.flatMap((factor): Attempt[] => [
    ['confirmSecondFactor', { ...login, ...factor }],
    ['confirmSecondFactor', { ...link, ...factor }],
    ['confirmStepUp', { ...stepUp, ...factor }, access_token],
  ]);
}

const verdict = [
  'ERR-INVALID-CREDENTIALS',
  'ERR-REAUTHENTICATION-FAILED',
  'ERR-IDEMPOTENCY-KEY-REUSED',
  'ERR-SECOND-FACTOR-INVALID',
];
const isOver = ['IAD_JWT_ACCESS_EXPIRED', 'IAD_JWT_ACCESS_INVALID', 'ERR-CODE-EXPIRED'];
/** Guesses of each path at once. */
const atOnce = 3;

/** A code's last verdict looks like the answers afterwards, which are none. */
const isVerdict = ({ code = '', details }: Reply) =>
  code === 'ERR-CODE-INVALID' ? details.tries_left !== 0 : verdict.includes(code);

/**
 * Sends wrong guesses by all paths at once. Of those of passwords, as many verdicts as the apis may have given without
 * Redis do not count.
 */
export async function guessSecret(user: GuessedUser): Promise<void> {
  const { world, secret, verdicts } = user;
  if (user.guesses.length === 0) {
    user.guesses = await prepare(user).catch(() => []);
    return;
  }
  if (secret === 'factor') await world.forgetTries();
  const [age, before] = [world.redisAge, await world.insured()];
  const answers = user.guesses.flatMap((guess) =>
    Array.from({ length: atOnce }, async () => {
      user.sent += 1;
      const network = `10.${user.sent >> 16}.${(user.sent >> 8) & 255}.${user.sent & 255}`;
      const reply = await send(user, guess, `wrong ${secret}`, network);
      return { by: secret === 'code' ? guess[1].challenge_id : age, reply };
    }),
  );
  const got = await Promise.all(answers);
  const isRenewed = secret === 'code' && user.person.random() < 0.01;
  if (isRenewed || got.some(({ reply }) => isOver.includes(reply?.code ?? ''))) user.guesses = [];
  // An api that has been restarted counts from nothing.
  const insured = ((await world.insured()) ?? Infinity) - (before ?? Infinity);
  if (secret !== 'code' && age !== world.redisAge) return;
  for (const [by, answered] of Map.groupBy(got, (each) => each.by)) {
    const count = answered.filter(({ reply }) => reply !== undefined && isVerdict(reply)).length;
    const sure = insured >= 0 ? Math.max(0, count - insured) : 0;
    verdicts.set(by, (verdicts.get(by) ?? 0) + (secret === 'password' ? sure : count));
  }
}

const quarterMs = 900_000;

/** Checks that no more guesses got a verdict than the total allows, which begins anew in an emptied Redis. */
export function checkGuesses(user: GuessedUser, faults: readonly { readonly name: string }[]): void {
  const { secret, verdicts, sent, world } = user;
  const timesOf = (form: RegExp) => faults.filter(({ name }) => form.test(name)).length;
  // A kill may lose what Redis has not yet written to its file.
  const lost = 20 * timesOf(/^kill -9 of Redis/);
  // Without Redis each process of the api counts five factors in a quarter of an hour.
  const processes = 2 * (1 + timesOf(/the api|every process/));
  const alone = secret === 'factor' ? 5 * processes * Math.ceil(world.history.now() / quarterMs) : 0;
  const max = secret === 'code' ? 4 : sharedTotal + ownTotal + lost + alone;
  for (const [by, count] of verdicts) {
    const detail = { secret, by, count, max, sent };
    world.history.note('guesses', detail);
    if (count > max) violate(user, 'more wrong guesses got a verdict than the total allows', {}, detail);
  }
}
