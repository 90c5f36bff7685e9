import type { Provider } from '@auth-account/local-stack/provider';
import { createRandom } from '../../../model/simulate-refresh.ts';
import { type Answered, callUntilAnswered, type World } from '../load/app.ts';
import type { Registration } from '../load/ledger.ts';

/** The load's world, with a provider of OpenID Connect. */
export interface WayWorld extends World {
  readonly provider: Pick<Provider, 'sign'>;
}

/** A user with another way in than the password alone, who does one thing at a time. */
export interface WayUser {
  readonly world: WayWorld;
  readonly id: number;
  readonly random: () => number;
  readonly timeoutMs: number;
  readonly email: string;
  readonly registration: Registration;
}

/** Creates a user whom the checks of the stores know. */
export function createWayUser(world: WayWorld, kind: string, { seed, id }: { seed: number; id: number }): WayUser {
  const email = `${kind}-${seed}-${id}@office.example`;
  const registration: Registration = { email, invite: undefined, person: { groupId: undefined }, outcome: 'unknown' };
  world.ledger.registrations.set(email, registration);
  return { world, id, random: createRandom(seed * 7_919 + id), timeoutMs: 15_000, email, registration };
}

/** Sends a request without a session until it has an answer. */
export function post(user: WayUser, kind: string, path: string, body: object): Promise<Answered> {
  const request = () => ({ method: 'POST', path: `/api/v1/auth/${path}`, body }) as const;
  return callUntilAnswered({ world: user.world, person: user }, { kind, sort: 'write', request });
}

/** Reports a broken promise to the user. */
export function violate({ world, email }: WayUser, what: string, detail: object): void {
  world.history.violate(what, { email, ...detail });
}
