import { createHash } from 'node:crypto';
import type { RedisStore, Use } from '@auth-account/operations';
import type { Role } from '../contract/roles.ts';
import type { Seals } from './seals.ts';

/** The console's own part of a session. It lies sealed in Redis, because it has tokens. */
export interface SessionRecord {
  readonly role: Role;
  /** The provider's token, by which it says who the person is. */
  readonly accessToken: string;
  readonly idToken: string | undefined;
  /** Time at which the provider was last asked, in milliseconds since the epoch. */
  readonly checkedAt: number;
  /** End of the session, in seconds since the epoch. */
  readonly until: number;
}

/** Names of whose sessions end: of the person, or of one session at the provider (`sid`). */
export interface SessionOwner {
  readonly subject?: string | undefined;
  readonly providerSession?: string | undefined;
}

export interface SessionRecords {
  add(id: string, owner: SessionOwner, record: SessionRecord): Promise<void>;
  find(id: string): Promise<SessionRecord | undefined>;
  /** Replaces the record, unless it has gone in the meantime. */
  replace(id: string, record: SessionRecord): Promise<void>;
  /** Returns false if there was none. */
  remove(id: string): Promise<boolean>;
  /** Returns the ids of a person's sessions. Some of them may have ended. */
  idsOf(subject: string): Promise<string[]>;
  /** Removes the records of an owner, and returns how many there were. */
  removeOf(owner: SessionOwner): Promise<number>;
  /** Returns false if that was noted before. It is forgotten after `seconds`. */
  noteOnce(name: string, seconds: number): Promise<boolean>;
}

interface RecordDeps {
  readonly useRedis: Use<RedisStore>;
  readonly seals: Seals;
  /** Longest life of a session. */
  readonly maxSeconds: number;
  readonly now: () => number;
}

const digest = (text: string) => createHash('sha256').update(text).digest('base64url');

/** Keeps the records of sessions in Redis. All reject with an `OperationError` without Redis. */
export function createSessionRecords({ useRedis, seals, maxSeconds, now }: RecordDeps): SessionRecords {
  const keyOf = ({ keyPrefix }: RedisStore, kind: string, name: string) => `{${keyPrefix}}:console:${kind}:${name}`;
  const ownerKeys = (store: RedisStore, { subject, providerSession }: SessionOwner) => [
    ...(providerSession === undefined ? [] : [keyOf(store, 'provider-session', digest(providerSession))]),
    ...(subject === undefined ? [] : [keyOf(store, 'subject', digest(subject))]),
  ];
  const seal = (id: string, record: SessionRecord) => seals.seal('record', { ...record, id }, record.until);

  return {
    async add(id, owner, record) {
      const text = await seal(id, record);
      const seconds = Math.max(1, Math.ceil(record.until - now() / 1_000));
      await useRedis(async (store) => {
        const adding = store.redis.multi().set(keyOf(store, 'session', id), text, 'EX', seconds);
        for (const key of ownerKeys(store, owner)) adding.sadd(key, id).expire(key, maxSeconds);
        await adding.exec();
      });
    },
    async find(id) {
      const text = await useRedis((store) => store.redis.get(keyOf(store, 'session', id)));
      const facts = text === null ? undefined : await seals.open('record', text);
      return facts?.id === id ? (facts as unknown as SessionRecord) : undefined;
    },
    async replace(id, record) {
      const text = await seal(id, record);
      await useRedis((store) => store.redis.set(keyOf(store, 'session', id), text, 'KEEPTTL', 'XX'));
    },
    async remove(id) {
      return (await useRedis((store) => store.redis.unlink(keyOf(store, 'session', id)))) === 1;
    },
    idsOf: (subject) => useRedis((store) => store.redis.smembers(keyOf(store, 'subject', digest(subject)))),
    removeOf: (owner) =>
      useRedis(async (store) => {
        // The provider's session is the narrower name. A provider that never told it ends all sessions of the person.
        for (const key of ownerKeys(store, owner)) {
          const ids = await store.redis.smembers(key);
          if (ids.length === 0) continue;
          return store.redis.unlink(...ids.map((id) => keyOf(store, 'session', id)));
        }
        return 0;
      }),
    noteOnce: (name, seconds) =>
      useRedis(
        async (store) => (await store.redis.set(keyOf(store, 'noted', digest(name)), 1, 'EX', seconds, 'NX')) === 'OK',
      ),
  };
}
