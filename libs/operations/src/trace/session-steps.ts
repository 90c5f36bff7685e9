import type { Collections } from '@auth-account/stores';
import { firstIdOf, type SessionDocument } from '@auth-account/stores/documents';
import type { TraceStep } from './trace-step.ts';

type TracedSession = Pick<
  SessionDocument,
  | '_id'
  | 'user_id'
  | 'device_id'
  | 'created_at'
  | 'revoked_at'
  | 'revoked_reason'
  | 'revoked_also_close'
  | 'revoked_by'
  | 'revoked_notice'
  | 'claims_changed_at'
> & { readonly claims: Pick<SessionDocument['claims'], 'home_group_id' | 'ver'> };

/** The device from which a session was ended. */
type Ender = Pick<SessionDocument, '_id' | 'device_id' | 'device_name' | 'platform'>;

const projection = {
  user_id: 1,
  device_id: 1,
  created_at: 1,
  revoked_at: 1,
  revoked_reason: 1,
  revoked_also_close: 1,
  revoked_by: 1,
  revoked_notice: 1,
  claims_changed_at: 1,
  'claims.home_group_id': 1,
  'claims.ver': 1,
} as const;

/** Limit, in ms, for MongoDB's search of the sessions. */
const maxTimeMS = 30_000;

/**
 * Finds the steps in sessions. A request's id is in the session that the request opened, and in each session that it
 * ended or whose claims it changed.
 */
export async function findSessionSteps(
  { sessions, users }: Pick<Collections, 'sessions' | 'users'>,
  requestId: string,
  since: Date,
): Promise<TraceStep[]> {
  const find = (filter: Parameters<typeof sessions.find>[0]) =>
    sessions.find<TracedSession>(filter ?? {}, { projection, maxTimeMS }).toArray();
  // The first two searches use indexes on time. The third uses the time in the session's id, because an index would
  // cost more writes than it is worth.
  const [revoked, changed, created] = await Promise.all([
    find({ is_revoked: true, revoked_at: { $gte: since }, revoked_request_id: requestId }),
    find({ claims_changed_at: { $gte: since }, claims_request_id: requestId }),
    find({ _id: { $gte: firstIdOf(since) }, created_request_id: requestId }),
  ]);
  const enders = [...new Set(revoked.flatMap(({ revoked_by }) => revoked_by ?? []))];
  const options = { projection: { device_id: 1, device_name: 1, platform: 1 } };
  const devices = await sessions.find<Ender>({ _id: { $in: enders } }, options).toArray();
  const steps = revoked.flatMap((session) => toRevoked(session, devices));
  return [...created.map(toCreated), ...changed.flatMap(toChanged), ...steps, ...(await disablingOf(users, revoked))];
}

/**
 * Finds who ended these sessions by disabling their account, and why. This is known only while the account is disabled.
 */
async function disablingOf(users: Collections['users'], revoked: readonly TracedSession[]): Promise<TraceStep[]> {
  const endedAt = new Map(
    revoked.flatMap(({ revoked_reason, user_id, revoked_at }) =>
      revoked_reason === 'account_disabled' ? [[user_id, revoked_at?.getTime()]] : [],
    ),
  );
  const options = { projection: { disabled_at: 1, disabled_reason: 1, disabled_by: 1 } };
  const found = await users.find({ _id: { $in: [...endedAt.keys()] } }, options).toArray();
  // If the times differ, the account was disabled again since.
  return found.flatMap(({ _id, disabled_at: at, disabled_reason: why, disabled_by: by }) =>
    at?.getTime() !== endedAt.get(_id) || at === undefined
      ? []
      : [{ at, what: 'account disabled', facts: { user_id: _id, why, by } }],
  );
}

function toCreated({ _id, user_id, device_id, created_at }: TracedSession): TraceStep {
  return { at: created_at, what: 'session created', facts: { session_id: _id, user_id, device_id } };
}

function toChanged({ _id, user_id, claims_changed_at, claims }: TracedSession): TraceStep[] {
  if (claims_changed_at === undefined) return [];
  const facts = { session_id: _id, user_id, home_group_id: claims.home_group_id, ver: claims.ver };
  return [{ at: claims_changed_at, what: 'session moved to another group', facts }];
}

function toRevoked(session: TracedSession, devices: readonly Ender[]): TraceStep[] {
  const { _id, user_id, revoked_at, revoked_reason, revoked_also_close, revoked_by, revoked_notice } = session;
  if (revoked_at === undefined) return [];
  const ender = devices.find((device) => device._id === revoked_by);
  const by = {
    by_session: revoked_by,
    by_device: ender?.device_id,
    by_device_name: ender?.device_name ?? undefined,
    by_platform: ender?.platform ?? undefined,
  };
  const facts = {
    session_id: _id,
    user_id,
    reason: revoked_reason,
    notice: revoked_notice,
    also_closes: revoked_also_close,
    ...by,
  };
  return [{ at: revoked_at, what: 'session revoked', facts }];
}
