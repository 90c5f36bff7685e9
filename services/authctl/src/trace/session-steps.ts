import type { Collections } from '@auth-account/stores';
import type { SessionDocument } from '@auth-account/stores/documents';
import { firstIdOf } from '../cli/first-id-of.ts';
import type { TraceStep } from './timeline.ts';

type TracedSession = Pick<
  SessionDocument,
  | '_id'
  | 'user_id'
  | 'device_id'
  | 'created_at'
  | 'revoked_at'
  | 'revoked_reason'
  | 'revoked_also_close'
  | 'claims_changed_at'
> & { readonly claims: Pick<SessionDocument['claims'], 'home_group_id' | 'ver'> };

const projection = {
  user_id: 1,
  device_id: 1,
  created_at: 1,
  revoked_at: 1,
  revoked_reason: 1,
  revoked_also_close: 1,
  claims_changed_at: 1,
  'claims.home_group_id': 1,
  'claims.ver': 1,
} as const;

/** Milliseconds for which MongoDB may search the sessions of that time. */
const maxTimeMS = 30_000;

/** A request's id is in the session that it opened, in those that it ended, and in those whose claims it changed. */
export async function findSessionSteps(
  { sessions }: Collections,
  requestId: string,
  since: Date,
): Promise<TraceStep[]> {
  const find = (filter: Parameters<typeof sessions.find>[0]) =>
    sessions.find<TracedSession>(filter ?? {}, { projection, maxTimeMS }).toArray();
  // The first two use indexes on time, the third the time in the id: an index for it is not worth its writes.
  const [revoked, changed, created] = await Promise.all([
    find({ is_revoked: true, revoked_at: { $gte: since }, revoked_request_id: requestId }),
    find({ claims_changed_at: { $gte: since }, claims_request_id: requestId }),
    find({ _id: { $gte: firstIdOf(since) }, created_request_id: requestId }),
  ]);
  return [...created.map(toCreated), ...changed.flatMap(toChanged), ...revoked.flatMap(toRevoked)];
}

function toCreated({ _id, user_id, device_id, created_at }: TracedSession): TraceStep {
  return { at: created_at, what: 'session created', facts: { session_id: _id, user_id, device_id } };
}

function toChanged({ _id, user_id, claims_changed_at, claims }: TracedSession): TraceStep[] {
  if (claims_changed_at === undefined) return [];
  const facts = { session_id: _id, user_id, home_group_id: claims.home_group_id, ver: claims.ver };
  return [{ at: claims_changed_at, what: 'session moved to another group', facts }];
}

function toRevoked({ _id, user_id, revoked_at, revoked_reason, revoked_also_close }: TracedSession): TraceStep[] {
  if (revoked_at === undefined) return [];
  const facts = { session_id: _id, user_id, reason: revoked_reason, also_closes: revoked_also_close };
  return [{ at: revoked_at, what: 'session revoked', facts }];
}
