import { readFileSync } from 'node:fs';

/** Operations that apps do all the time. A handshake sends nothing to MongoDB. */
export type HotOperation = 'register' | 'login' | 'refresh' | 'session read' | 'account read' | 'logout';

/** Reasons for a query that does not ask a single shard, by an index and in the index's order (docs/scaling.md). */
interface Reasons {
  /** Reason to ask every shard. Without it, the query's filter must name a field from which the shard follows. */
  readonly allShards?: string;
  /** The query that replaces it in the sharded database, because it would ask every shard. */
  readonly becomes?: string;
  /** Reason to sort in memory. */
  readonly sorts?: string;
  /** Reason to read the whole collection. */
  readonly scans?: string;
}

/** A query that the services send today. */
export interface KnownQuery extends Reasons {
  /** The hot operations that send the query. Such a query asks one shard, by an index, and in the index's order. */
  readonly hot: readonly HotOperation[];
}

const worker = 'a worker asks, once a second or less; each shard answers from a small index';
const operator = 'an operator asks, through authctl';
const person = 'a person asks, a few times in the life of an account';
const group = 'a group is looked at or changed, which is seldom; at most as many documents as it has members';
const erasure = 'an account is erased';
const reservation = '`emails` by `_id`, which names the user: one shard. Then `users` by `_id`';

/**
 * Reasons by query, in the form of `shapeOf`, in which fields without a sign must equal a value, and `<>` is a range.
 * The test `test/integration/stores/queries.test.ts` fails for a query that needs one and has none here.
 */
const reasons: Readonly<Record<string, Reasons>> = {
  'challenges find {ended_at, expires_at <>, purpose, tries_left <>, user_id} by created_at': {
    sorts: 'the codes of one user, whose number the limits bound',
  },
  'dead_letters distinct {}': { allShards: worker },
  'dead_letters find {$nor(_id <>, created_at), created_at <>} by created_at, _id': { allShards: operator },
  'dead_letters find {created_at <>, subscriber} by created_at, _id': { allShards: operator },
  'dead_letters find {subscriber} by created_at, _id': { allShards: operator },
  'erased_sessions find {revoked_at <>} by revoked_at': { allShards: worker },
  'groups find {import_key in}': { allShards: operator },
  'invites find {created_by} by created_at': { allShards: person },
  'invites update {$or(max_uses | $expr), created_by, expires_at <>, revoked_at}': { allShards: person },
  'invites update {created_by}': { allShards: erasure },
  'outbox aggregate {event.requestid, state}': { allShards: operator },
  'outbox aggregate {state}': { allShards: worker },
  'outbox find {$or(held.for in, state | held.until <>, state)}': { allShards: worker },
  'outbox find {$or(held.until <>, state)}': { allShards: worker },
  'outbox find {_id <>, state} by _id': { allShards: operator },
  'outbox find {_id <>} by _id': { allShards: operator },
  'outbox find {attempts <>, locked_until <>, state} by locked_until': { allShards: worker },
  'outbox find {locked_until <>, state, topic} by locked_until': { allShards: worker },
  'outbox find {created_at <>, event.requestid <>, state ne}': { allShards: operator },
  'outbox find {event.requestid <>, event.subject, state ne}': { allShards: operator },
  'outbox find {event.requestid} by _id': {
    allShards: operator,
    sorts: 'a request writes a few rows, and 100 are read at most',
  },
  'outbox find {locked_until <>, state} by locked_until': { allShards: worker },
  'outbox find {state} by created_at': { allShards: worker },
  'subscribers find {configured_at exists}': { scans: 'a few documents' },
  'subscribers find {}': { scans: 'a few documents, all of which are wanted' },
  'upgrades find {}': { scans: 'a few documents, all of which are wanted' },
  'user_sessions find {_id <>, created_request_id}': { allShards: operator },
  'user_sessions find {claims_changed_at <>, claims_request_id}': { allShards: operator },
  'user_sessions find {claims_changed_at <>, is_revoked} by claims_changed_at': { allShards: worker },
  'user_sessions find {is_revoked, revoked_at <>, revoked_request_id}': { allShards: operator },
  'user_sessions find {is_revoked, revoked_at <>} by revoked_at': { allShards: worker },
  'users aggregate {deletes_at <>}': { allShards: worker },
  'users aggregate {totp.removal.due_at <>}': { allShards: worker },
  'users find {$or(email_key | former_emails [email_key, until <>])}': { becomes: reservation },
  'users find {created_at <>, email_key}': { allShards: operator },
  'users find {email_key in}': { allShards: operator },
  'users find {email_key}': { becomes: reservation },
  'users find {former_emails.change_id}': { allShards: person },
  'users find {former_emails.until <>}': { allShards: worker },
  'users find {identities [provider, sub]}': { becomes: '`identities` by `_id`, which names the user, as `emails`' },
  'users find {passkeys.credential_id}': { becomes: '`passkeys` by `_id`, which names the user, as `emails`' },
  'users find {home_group_id}': { allShards: group },
  'users find {home_group_id} by joined_at, _id': { allShards: group },
  'users findAndModify {$or(erasure exists | erasure.until <>), deletes_at <>} by deletes_at': { allShards: worker },
  'users findAndModify {home_group_id} by joined_at, _id': { allShards: group },
  'users update {home_group_id}': { allShards: group },
  'provider_revocations aggregate {kid exists, kid nin}': { allShards: worker },
  'provider_revocations find {kid nin}': { allShards: worker },
  'provider_revocations findAndModify {due_at <>, provider nin} by due_at': { allShards: worker },
  'users aggregate {identities.refresh_token.kid exists, identities.refresh_token.kid nin}': { allShards: worker },
  'users aggregate {totp.kid exists, totp.kid nin}': { allShards: worker },
  'users find {identities [refresh_token.kid exists, refresh_token.kid nin]}': { allShards: worker },
  'users find {totp.kid exists, totp.kid nin}': { allShards: worker },
  'users find {totp.removal.due_at <>}': { allShards: worker },
  'users find {totp.removal.id}': { allShards: person },
  'users update {pending_email_until <>}': { allShards: worker },
  'users update {pending_totp.until <>}': { allShards: worker },
};

/** A file with the hot operations that send each query, which `npm run generate queries` writes. */
export const recordedFile = new URL('../../integration/stores/queries.json', import.meta.url);
const recorded: Readonly<Record<string, string>> = JSON.parse(readFileSync(recordedFile, 'utf8'));

/** Every query that was recorded or has a reason, by the query's shape. */
export const knownQueries: Readonly<Record<string, KnownQuery>> = Object.fromEntries(
  [...new Set([...Object.keys(reasons), ...Object.keys(recorded)])].sort().map((shape) => {
    const hot = (recorded[shape] ?? '').split(', ').filter((name) => name !== '') as HotOperation[];
    return [shape, { ...reasons[shape], hot }];
  }),
);
