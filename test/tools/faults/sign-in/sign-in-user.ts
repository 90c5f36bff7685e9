import type { RouteName } from '@auth-account/contracts';
import type { Provider } from '@auth-account/local-stack/provider';
import { createRandom } from '../../../model/simulate-refresh.ts';
import { type Input, requestTo } from '../../../support/api/api-driver.ts';
import { type Answered, callUntilAnswered, type World } from '../load/app.ts';
import type { Registration } from '../load/ledger.ts';

/** The load's world, with a provider of OpenID Connect. */
export interface SignInWorld extends World {
  readonly provider: Pick<Provider, 'sign'>;
  /** Returns the guesses that the apis have judged without Redis; undefined while an api does not answer. */
  readonly insured: () => Promise<number | undefined>;
  /** Forgets the times of tries of second factors, as a quarter of an hour does, but not the totals. */
  readonly forgetTries: () => Promise<unknown>;
  /** Raised before and after Redis is emptied. */
  redisAge: number;
}

/** A user with another sign-in method than the password alone, who does one thing at a time. */
export interface SignInUser {
  readonly world: SignInWorld;
  readonly id: number;
  readonly random: () => number;
  readonly timeoutMs: number;
  readonly email: string;
  readonly registration: Registration;
}

type Data = Readonly<Record<string, string>>;

/** Creates a user whom the checks of the stores know. */
export function createSignInUser(
  world: SignInWorld,
  kind: string,
  { seed, id }: { seed: number; id: number },
): SignInUser {
  const email = `${kind}-${seed}-${id}@office.example`;
  const registration: Registration = { email, invite: undefined, person: { groupId: undefined }, outcome: 'unknown' };
  world.ledger.registrations.set(email, registration);
  return { world, id, random: createRandom(seed * 7_919 + id), timeoutMs: 15_000, email, registration };
}

/** Sends a request without a session until it has an answer. */
export function post<N extends RouteName>(
  user: SignInUser,
  kind: string,
  name: N,
  input?: Input<N>,
): Promise<Answered> {
  const request = () => requestTo(name, input);
  return callUntilAnswered({ world: user.world, person: user }, { kind, sort: 'write', request });
}

/** Sends a request as {@link post} does, and returns the answer's data. Throws if the answer is an error. */
export async function postRight<N extends RouteName>(
  user: SignInUser,
  name: N,
  input: Input<N>,
  accessToken?: string,
): Promise<Data> {
  const { world, email: idempotencyKey } = user;
  const request = () => ({ ...requestTo(name, input), idempotencyKey, accessToken });
  const call = { kind: 'set-up', sort: 'write', request } as const;
  const { reply, wasUnsure } = await callUntilAnswered({ world, person: user }, call);
  // A repeat of a confirmation that has taken effect.
  const isDone = wasUnsure && reply?.code === 'ERR-CODE-EXPIRED';
  if (reply === undefined || (reply.status >= 300 && !isDone))
    throw new Error(`${name} answered ${reply?.status} ${reply?.code}`);
  return reply.data as Data;
}

/** Registers the user with that password. */
export async function registerUser(user: SignInUser, password: string): Promise<void> {
  const body = { email: user.email, password, space_creation_mode: 'CREATE_NEW_HOME' };
  user.registration.userId = (await postRight(user, 'registerAccount', body)).user_id ?? '';
  user.registration.outcome = 'acknowledged';
}

/** Reports a broken promise to the user. */
export function violate({ world, email }: SignInUser, what: string, detail: object): void {
  world.history.violate(what, { email, ...detail });
}
