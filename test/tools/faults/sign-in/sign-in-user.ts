import type { RouteName } from '@auth-account/contracts';
import type { Provider } from '@auth-account/local-stack/provider';
import { createRandom } from '../../../model/simulate-refresh.ts';
import type { Input } from '../../../support/api/api-driver.ts';
import type { World } from '../load/app.ts';
import { type Caller, callOf, callUntilAnswered } from '../load/app-request.ts';
import { beginRegistration, type Registration } from '../load/ledger.ts';

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
export interface SignInUser extends Caller {
  readonly world: SignInWorld;
  readonly email: string;
  readonly registration: Registration;
}

type Data = Readonly<Record<string, string>>;

/** Creates a user whom the checks of the stores know. */
export function createSignInUser(world: SignInWorld, kind: string, seed: number, id: number): SignInUser {
  const email = `${kind}-${seed}-${id}@office.example`;
  const registration = beginRegistration(world.ledger, email);
  const person = { id: email, random: createRandom(seed * 7_919 + id), timeoutMs: 15_000 };
  return { world, person, email, registration };
}

/** Sends a request until it has an answer, and returns its data. Throws if the answer is an error. */
export async function postRight<N extends RouteName>(
  user: SignInUser,
  name: N,
  input: Input<N>,
  accessToken?: string,
): Promise<Data> {
  const call = callOf('set-up', name, input, { idempotencyKey: user.email, accessToken });
  const { reply, wasUnsure } = await callUntilAnswered(user, call);
  // A repeat of a confirmation that has taken effect.
  const isDone = wasUnsure && reply?.code === 'ERR-CODE-EXPIRED';
  if (reply === undefined || (reply.status >= 300 && !isDone))
    throw new Error(`${name} answered ${reply?.status} ${reply?.code}`);
  return reply.data as Data;
}

/** Registers the user with that password. */
export async function registerUser(user: SignInUser, password: string): Promise<void> {
  const input = { email: user.email, password, space_creation_mode: 'CREATE_NEW_HOME' };
  user.registration.userId = (await postRight(user, 'registerAccount', input)).user_id ?? '';
  user.registration.outcome = 'acknowledged';
}
