/** Operations that apps do all the time. A handshake sends nothing to MongoDB. */
export type HotOperation = 'register' | 'login' | 'refresh' | 'session read' | 'account read' | 'logout';

/** A query of the services, as they send it today, and what it would cost in the sharded database of docs/scaling.md. */
export interface KnownQuery {
  /** Hot operations that send it. Such a query asks one shard, by an index, and in the order of the index. */
  readonly hot?: readonly HotOperation[];
  /** Reason why it may ask every shard. Without one, its filter names a field from which the shard follows. */
  readonly allShards?: string;
  /** Its replacement in the sharded database, because it would ask every shard. */
  readonly becomes?: string;
  /** Reason why it may sort in memory. */
  readonly sorts?: string;
  /** Reason why it may read the whole collection. */
  readonly scans?: string;
}

const worker = 'a worker asks, once a second or less; each shard answers from a small index';
const operator = 'an operator asks, through authctl';
const person = 'a person asks, a few times in the life of an account';
const group = 'a group is looked at or changed, which is seldom; at most as many documents as it has members';
const erasure = 'an account is erased';
const reservation = '`emails` by `_id`, which names the user: one shard. Then `users` by `_id`';

/**
 * Every query by collection, in the form of `shapeOf`: fields without a sign must equal a value, `<>` is a range. The
 * test `test/integration/stores/queries.test.ts` fails for one that is missing here, or that nobody sends.
 */
export const knownQueries: Readonly<Record<string, Readonly<Record<string, KnownQuery>>>> = {
  challenges: {
    'delete {user_id}': {},
    'find {_id, ended_by}': {},
    'find {_id, purpose, user_id}': {},
    'find {_id, purpose}': {},
    'find {_id, resent_by}': {},
    'find {_id}': {},
    'find {ended_at, expires_at <>, purpose, tries_left <>, user_id} by created_at': {
      sorts: 'the codes of one user, whose number the limits bound',
    },
    'find {user_id}': {},
    'findAndModify {_id, ended_at, expires_at <>, purpose, resend_at <>, resends_left <>, tries_left <>, user_id}': {},
    'findAndModify {_id, ended_at, expires_at <>, purpose, resend_at <>, resends_left <>, tries_left <>}': {},
    'findAndModify {_id, ended_at, expires_at <>, purpose, tries_left <>, user_id}': {},
    'findAndModify {_id, ended_at, expires_at <>, purpose, tries_left <>}': {},
    'update {_id, ended_at, tries_left <>}': {},
    'update {ended_at, purpose, user_id}': {},
    'update {ended_at, user_id}': {},
  },
  dead_letters: {
    'delete {_id in}': {},
    'delete {_id}': {},
    'delete {event_id in}': {},
    'distinct {}': { allShards: worker },
    'find {$nor(_id <>, created_at), created_at <>} by created_at, _id': { allShards: operator },
    'find {_id}': {},
    'find {created_at <>, subscriber} by created_at, _id': { allShards: operator },
    'find {event_id}': {},
    'find {subscriber} by created_at, _id': { allShards: operator },
    'update {_id}': {},
  },
  erased_sessions: {
    'find {revoked_at <>} by revoked_at': { allShards: worker },
  },
  groups: {
    'delete {_id, member_count, owner_id}': {},
    'find {_id, closed_at, owner_id}': {},
    'find {_id, member_count <>}': {},
    'find {_id, owner_id}': {},
    'find {_id}': {},
    'find {import_key in}': { allShards: operator },
    'findAndModify {_id, closed_at, owner_id}': {},
    'findAndModify {_id}': {},
    'update {_id, closed_at, member_count <>}': {},
    'update {_id, closed_at, owner_id}': {},
    'update {_id, closed_at}': {},
    'update {_id}': {},
  },
  idempotency: {
    'delete {user_id}': {},
    'find {_id in}': { hot: ['register'] },
  },
  invites: {
    'aggregate {$or(max_uses | $expr), expires_at <>, home_group_id, revoked_at}': {},
    'delete {home_group_id}': {},
    'find {$nor($or(max_uses | $expr), expires_at <>, revoked_at), home_group_id} by created_at': {},
    'find {$or(max_uses | $expr), expires_at <>, home_group_id, revoked_at}': {},
    'find {_id}': {},
    'find {created_by} by created_at': { allShards: person },
    'findAndModify {$or(max_uses | $expr), _id, expires_at <>, revoked_at}': {},
    'update {$or(max_uses | $expr), _id, expires_at <>, home_group_id, revoked_at}': {},
    'update {$or(max_uses | $expr), created_by, expires_at <>, revoked_at}': { allShards: person },
    'update {created_by}': { allShards: erasure },
    'update {expires_at <>, home_group_id, revoked_at}': {},
  },
  outbox: {
    'aggregate {event.requestid, state}': { allShards: operator },
    'aggregate {state}': { allShards: worker },
    'delete {_id in, state ne}': {},
    'find {$or(held.for in, state | held.until <>, state)}': { allShards: worker },
    'find {$or(held.until <>, state)}': { allShards: worker },
    'find {_id <>, state} by _id': { allShards: operator },
    'find {_id <>} by _id': { allShards: operator },
    'find {_id in, lease}': {},
    'find {_id}': {},
    'find {attempts <>, locked_until <>, state} by locked_until': { allShards: worker },
    'find {locked_until <>, state, topic} by locked_until': { allShards: worker },
    'find {created_at <>, event.requestid <>, state ne}': { allShards: operator },
    'find {event.requestid <>, event.subject, state ne}': { allShards: operator },
    'find {event.requestid} by _id': {
      allShards: operator,
      sorts: 'a request writes a few rows, and 100 are read at most',
    },
    'find {locked_until <>, state} by locked_until': { allShards: worker },
    'find {state} by created_at': { allShards: worker },
    'update {$or(held.for in, state | held.until <>, state), _id in}': {},
    'update {_id in, attempts <>, locked_until <>, state}': {},
    'update {_id in, locked_until <>, state}': {},
    'update {_id in, locked_until <>, state, topic}': {},
    'update {_id in, state}': {},
    'update {_id, lease, state}': {},
    'update {_id, replays.* exists, state}': {},
    'update {_id, replays.*, state}': {},
    'update {_id, state}': {},
    'update {_id}': {},
  },
  subscribers: {
    'find {_id in, configured_at exists}': {},
    'find {}': { scans: 'a few documents, all of which are wanted' },
    'findAndModify {_id}': {},
    'update {_id nin, configured_at exists}': {},
    'update {_id, parked_at exists}': {},
    'update {_id}': {},
  },
  user_sessions: {
    'aggregate {_id in, is_revoked}': {},
    'aggregate {expires_at <>, is_revoked, user_id}': {},
    'delete {_id <>, user_id}': {},
    'delete {is_revoked, user_id}': {},
    'find {_id <>, created_request_id}': { allShards: operator },
    'find {_id in}': {},
    'find {_id, is_revoked}': {},
    'find {_id}': { hot: ['refresh', 'session read', 'account read', 'logout'] },
    'find {claims_changed_at <>, claims_request_id}': { allShards: operator },
    'find {claims_changed_at <>, is_revoked} by claims_changed_at': { allShards: worker },
    'find {expires_at <>, is_revoked, user_id}': { hot: ['session read'] },
    'find {is_revoked, revoked_at <>, revoked_request_id}': { allShards: operator },
    'find {is_revoked, revoked_at <>, user_id}': {},
    'find {is_revoked, revoked_at <>} by revoked_at': { allShards: worker },
    'find {is_revoked, user_id in}': {},
    'find {is_revoked, user_id}': { hot: ['login'] },
    'find {is_revoked, user_id} by revoked_at': {},
    'findAndModify {_id, ahead.block, ahead.kid, expires_at <>, hold, is_revoked, token}': { hot: ['refresh'] },
    'update {_id in, is_revoked}': { hot: ['login'] },
    'update {_id, claims.account_type, claims.home_group_id, claims.ver, gen, hold exists, is_revoked, parent}': {
      hot: ['refresh'],
    },
    'update {_id, expires_at <>, is_revoked, token, user_id}': { hot: ['logout'] },
    'update {_id, expires_at <>, is_revoked, user_id}': { hot: ['logout'] },
    'update {hold.by, is_revoked, user_id in}': {},
    'update {is_revoked, user_id in}': {},
    'update {is_revoked, user_id}': {},
  },
  users: {
    'aggregate {deletes_at <>}': { allShards: worker },
    'delete {_id, home_group_id}': {},
    'distinct {_id in}': {},
    'find {$or(email_key | former_emails [email_key, until <>])}': { hot: ['register'], becomes: reservation },
    'find {_id, disabled_at}': {},
    'find {_id, home_group_id, joined_at}': {},
    'find {_id, home_group_id}': {},
    'find {_id, password_hash}': {},
    'find {_id}': { hot: ['register', 'account read'] },
    'find {created_at <>, email_key}': { allShards: operator },
    'find {_id in}': {},
    'find {email_key in}': { allShards: operator },
    'find {email_key}': { hot: ['login'], becomes: reservation },
    'find {former_emails.change_id}': { allShards: person },
    'find {former_emails.until <>}': { allShards: worker },
    'find {home_group_id}': { allShards: group },
    'find {home_group_id} by joined_at, _id': { allShards: group },
    'findAndModify {$or(erasure exists | erasure.until <>), deletes_at <>} by deletes_at': { allShards: worker },
    'findAndModify {_id, deletes_at <>, erasure.lease}': {},
    'findAndModify {_id, deletes_at not}': {},
    'findAndModify {_id, email_key, password_changed_at exists}': {},
    'findAndModify {_id, home_group_id}': {},
    'findAndModify {_id}': { hot: ['login'] },
    'findAndModify {home_group_id} by joined_at, _id': { allShards: group },
    'update {_id, deletes_at <>, disabled_at exists, email_key, password_changed_at exists}': {},
    'update {_id, deletes_at <>, email_key, password_changed_at exists}': {},
    'update {_id, disabled_at exists}': {},
    'update {_id, email_key, password_changed_at exists, pending_email}': {},
    'update {_id, email_key, password_changed_at exists}': {},
    'update {_id, home_group_id}': {},
    'update {_id, known_devices exists}': {},
    'update {_id, password_hash}': {},
    'update {_id}': {},
    'update {home_group_id}': { allShards: group },
    'update {pending_email_until <>}': { allShards: worker },
  },
};
