/** Split of a collection in the sharded database of docs/scaling.md. */
export interface ShardKey {
  /** Undefined if the collection is not sharded. */
  readonly key?: string;
  /** Fields of which any is enough to know the shard, because `slot` is part of every id. */
  readonly slotFrom: readonly string[];
  readonly why: string;
  readonly changes: string;
}

/** The plan, by collection. */
export const shardKeys: Readonly<Record<string, ShardKey>> = {
  users: {
    key: '{slot: 1, _id: 1}',
    slotFrom: ['_id'],
    why: 'logins, moves and removals write by `_id`',
    changes:
      '`email_key_unique`, `passkey_unique` and `identity_unique` go. A group’s members are asked for on all shards; `promoteEldest` becomes a find by group and an update by `_id`',
  },
  user_sessions: {
    key: '{slot: 1, user_id: 1}',
    slotFrom: ['_id', 'user_id'],
    why: 'a refresh and a logout know the session’s id, a login and a list the user’s: both have the slot. All sessions of a user lie together, so that one transaction of one shard ends them',
    changes:
      '`live_device_unique` becomes `{slot, user_id, device_id}`, which begins with the shard key; `revoked_of_user` likewise',
  },
  groups: {
    key: '{slot: 1, _id: 1}',
    slotFrom: ['_id'],
    why: 'always by id; a new group has the slot of its founder',
    changes: '`import_key_unique` becomes a reservation, as the email addresses',
  },
  invites: {
    key: '{slot: 1, _id: 1}',
    slotFrom: ['_id', 'home_group_id'],
    why: 'joins go by token, lists and counts by group: the token has the slot of the group',
    changes: 'those of one maker (export, reset, erasure) are asked for on all shards',
  },
  challenges: {
    key: '{slot: 1, user_id: 1}',
    slotFrom: ['_id', 'user_id'],
    why: 'confirmed by id in the transaction that changes the user: the id has the slot of the user',
    changes: '–',
  },
  outbox: {
    key: '{slot: 1, _id: 1}',
    slotFrom: ['_id'],
    why: 'a row is written in the transaction of what it announces: the event’s id has the slot of the user',
    changes: 'claims, leases, depth and age ask all shards: see below',
  },
  dead_letters: {
    key: '{slot: 1, event_id: 1}',
    slotFrom: ['_id', 'event_id'],
    why: 'written in one transaction with the event’s row: `_id` has the event’s id',
    changes: 'lists and counts ask all shards',
  },
  idempotency: {
    key: '{slot: 1, _id: 1}',
    slotFrom: ['_id', 'user_id'],
    why: 'written in the transaction of the request: its id gets the slot of the caller, or of the email address of a registration',
    changes:
      'ids begin with the slot. `confirmedRead` asks for one document at a time, as a linearizable read must: during a rotation of server keys two',
  },
  erased_sessions: {
    key: '{slot: 1, _id: 1}',
    slotFrom: ['_id'],
    why: 'written in the transaction of the erasure, with the ids of the sessions',
    changes: 'read by time, on all shards',
  },
  spent_proofs: {
    key: '{_id: 1}',
    slotFrom: ['_id'],
    why: 'a challenge counts once over all accounts, so its id has no slot: a login by challenge is a transaction of two shards',
    changes: '–',
  },
  provider_revocations: {
    key: '{slot: 1, _id: 1}',
    slotFrom: ['_id'],
    why: 'written by what takes the identity away or finds it gone: its id has the slot of the user',
    changes: 'a worker asks all shards',
  },
  subscribers: { slotFrom: [], why: 'a few documents', changes: 'not sharded: it stays on one shard' },
  upgrades: { slotFrom: [], why: 'a few documents', changes: 'not sharded' },
};
