import type { ForceLogoutQueue } from '@auth-account/messaging';
import type { SessionDocument } from '@auth-account/stores/documents';
import { confirmedRead } from '@auth-account/stores/fenced-sessions';
import { describeAccount } from '../accounts/change-account.ts';
import { loadAccount } from '../accounts/load-account.ts';
import { type ForcedLogout, type OrderOptions, orderForceLogout } from '../commands/forced-logouts.ts';
import type { Mongo, Use } from '../context.ts';
import { OperationError } from '../operation-error.ts';
import type { Plan } from '../plan.ts';

export interface ListSessionsOptions {
  /** Id or email address of the account. */
  readonly user: string;
  /** Includes sessions that were revoked at or after that time. */
  readonly revokedSince?: Date | undefined;
}

/** All fields except the fields that create or prove tokens. */
const projection = { token: 0, nonce: 0, kid: 0, gen: 0, parent: 0, floor: 0, opened_by: 0 } as const;

type VisibleSession = Omit<SessionDocument, keyof typeof projection>;

/**
 * Returns an account's sessions with the reasons of their ends, most recently used first. Throws an `OperationError` of
 * the kind `unknown` if there is no such account.
 */
export async function listSessions(
  { collections, now }: Pick<Mongo, 'collections' | 'now'>,
  { user, revokedSince }: ListSessionsOptions,
) {
  const { _id: user_id } = await loadAccount(collections, user);
  // Each filter uses an existing index: live sessions by user, or revoked sessions by time.
  const filters = [
    { user_id, is_revoked: false },
    ...(revokedSince === undefined ? [] : [{ is_revoked: true, revoked_at: { $gte: revokedSince }, user_id }]),
  ];
  const found = await Promise.all(
    filters.map((filter) => collections.sessions.find<VisibleSession>(filter, { projection }).toArray()),
  );
  const sessions = found.flat().sort((a, b) => b.last_used_at.getTime() - a.last_used_at.getTime());
  return { user_id, sessions: sessions.map((session) => toView(session, now())) };
}

function toView(session: VisibleSession, now: Date) {
  return {
    session_id: session._id,
    state: stateOf(session, now),
    device_id: session.device_id,
    device_name: session.device_name,
    platform: session.platform,
    home_group_id: session.claims.home_group_id,
    created_at: session.created_at,
    last_used_at: session.last_used_at,
    expires_at: session.expires_at,
    revoked_at: session.revoked_at ?? null,
    revoked_reason: session.revoked_reason ?? null,
    revoked_request_id: session.revoked_request_id ?? null,
    revoked_by: session.revoked_by ?? null,
  };
}

function stateOf({ is_revoked, expires_at }: VisibleSession, now: Date): 'live' | 'expired' | 'revoked' {
  if (is_revoked) return 'revoked';
  return expires_at <= now ? 'expired' : 'live';
}

/** Everything that the end of sessions by a forced logout needs. */
export interface LogoutContext extends Pick<Mongo, 'collections'> {
  /** Lets the work use the queue of forced logouts, which the program opens for it or keeps open. */
  readonly useQueue: Use<ForceLogoutQueue>;
}

/**
 * Plans to end all sessions of an account by a forced logout. Throws an `OperationError` of the kind `unknown` if there
 * is no such account. The plan's run throws what `orderForceLogout` throws.
 */
export async function planEndSessions(
  { collections, useQueue }: LogoutContext,
  idOrEmail: string,
  options: OrderOptions,
): Promise<Plan<ForcedLogout>> {
  const user = await loadAccount(collections, idOrEmail);
  const live = await collections.sessions.countDocuments({ user_id: user._id, is_revoked: false });
  return {
    question: `End all sessions of the account ${describeAccount(user)}? It has ${live}.`,
    run: () => orderForceLogout(useQueue, { user_id: user._id }, options),
  };
}

/**
 * Plans to end one session by a forced logout. Throws an `OperationError`: `unknown` if there is no such session,
 * `refused` if it has ended already. The plan's run throws what `orderForceLogout` throws.
 */
export async function planEndSession(
  { collections, useQueue }: LogoutContext,
  sessionId: string,
  options: OrderOptions,
): Promise<Plan<ForcedLogout>> {
  const projection = { is_revoked: 1, user_id: 1, device_name: 1, platform: 1 } as const;
  const session = await collections.sessions.findOne({ _id: sessionId }, { ...confirmedRead, projection });
  if (session === null) throw new OperationError('unknown', `There is no session ${sessionId}.`);
  if (session.is_revoked) throw new OperationError('refused', `Session ${sessionId} is revoked already.`);
  const { user_id, device_name, platform } = session;
  const device = [device_name ?? 'a device without a name', platform].filter(Boolean).join(', ');
  return {
    question: `End the session ${sessionId} of the account ${user_id} (${device})? The device must log in again.`,
    run: () => orderForceLogout(useQueue, { session_id: sessionId }, options),
  };
}
