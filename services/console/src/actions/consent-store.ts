import { randomUUID } from 'node:crypto';
import { OperationError, type RedisStore, type Use } from '@auth-account/operations';
import type { ConsentView } from '../contract/action-answers.ts';
import type { Order } from './plan-action.ts';

/** An action that a member of staff has asked for, and to which another one must consent. */
export interface Consent extends Order {
  readonly id: string;
  /** Digest of the question of then, by which a second click is known. The question names the email address. */
  readonly digest: string;
  readonly reason: string;
  readonly asker: { readonly subject: string; readonly name: string };
  /** Milliseconds since the epoch. */
  readonly askedAt: number;
}

export type ConsentState = ConsentView['state'];

/** Milliseconds after which a consent can no longer be given. */
export const consentLifeMs = 3_600_000;

/** Number of consents that can wait at the same time. */
const maxWaiting = 50;

/** Actions that wait for a second person, in Redis. Whoever settles one first does so alone. */
export interface ConsentStore {
  /** Stores a consent. Throws an `OperationError` of the kind `refused` if too many wait. */
  ask(asked: Omit<Consent, 'id' | 'askedAt'>): Promise<Consent>;
  /** Throws an `OperationError` of the kind `unknown` if there is none with that id, or its life is over. */
  load(id: string): Promise<{ readonly consent: Consent; readonly state: ConsentState }>;
  /** Returns those that wait, the oldest first. */
  list(): Promise<Consent[]>;
  /** Ends the wait; false if it has ended already. */
  settle(id: string, state: Exclude<ConsentState, 'waiting'>): Promise<boolean>;
}

/** Creates the store. `now` is the time in milliseconds. */
export function createConsentStore(useRedis: Use<RedisStore>, now: () => number): ConsentStore {
  async function add(store: RedisStore, asked: Parameters<ConsentStore['ask']>[0]): Promise<Consent> {
    const others = await findWaiting(store, now());
    const isSame = ({ digest, asker }: Consent) => digest === asked.digest && asker.subject === asked.asker.subject;
    // A second click asks for nothing new.
    const same = others.find(isSame);
    if (same !== undefined) return same;
    if (others.length >= maxWaiting) throw new OperationError('refused', `${maxWaiting} actions wait already.`);
    const { redis } = store;
    const { consent: keyOf, waiting } = namesIn(store);
    const consent: Consent = { ...asked, id: randomUUID(), askedAt: now() };
    await redis.set(keyOf(consent.id), JSON.stringify(consent), 'PX', consentLifeMs);
    await redis.zadd(waiting, consent.askedAt, consent.id);
    await redis.pexpire(waiting, consentLifeMs);
    return consent;
  }

  return {
    ask: (asked) => useRedis((store) => add(store, asked)),
    load: (id) =>
      useRedis(async (store) => {
        const consent = /^[\da-f-]{36}$/.test(id) ? await find(store, id) : undefined;
        if (consent === undefined)
          throw new OperationError('unknown', 'There is no such consent, or its hour is over.');
        const settled = (await store.redis.get(namesIn(store).settled(id))) as ConsentState | null;
        return { consent, state: settled ?? 'waiting' };
      }),
    list: () => useRedis((store) => findWaiting(store, now())),
    settle: (id, state) =>
      useRedis(async (store) => {
        const { settled, waiting } = namesIn(store);
        const isFirst = (await store.redis.set(settled(id), state, 'PX', consentLifeMs, 'NX')) === 'OK';
        await store.redis.zrem(waiting, id);
        return isFirst;
      }),
  };
}

/** Returns the names of keys in Redis. */
function namesIn({ keyPrefix }: RedisStore) {
  const consent = (id: string) => `{${keyPrefix}}:console:consent:${id}`;
  return {
    consent,
    /** The way in which a consent was settled. */
    settled: (id: string) => `${consent(id)}:settled`,
    /** Sorted set: id of a waiting consent → time at which it was asked for. */
    waiting: `{${keyPrefix}}:console:consents`,
  };
}

async function find(store: RedisStore, id: string): Promise<Consent | undefined> {
  const stored = await store.redis.get(namesIn(store).consent(id));
  return stored === null ? undefined : (JSON.parse(stored) as Consent);
}

async function findWaiting(store: RedisStore, now: number): Promise<Consent[]> {
  const { waiting } = namesIn(store);
  await store.redis.zremrangebyscore(waiting, '-inf', `${now - consentLifeMs}`);
  const ids = await store.redis.zrange(waiting, '0', '-1');
  const found = await Promise.all(ids.map((id) => find(store, id)));
  return found.filter((consent) => consent !== undefined);
}
