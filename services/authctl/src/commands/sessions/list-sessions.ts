import type { Collections } from '@auth-account/stores';
import type { SessionDocument } from '@auth-account/stores/documents';
import type { Outcome } from '../../cli/shell.ts';
import { table } from '../../cli/table.ts';
import { loadUser } from '../users/load-user.ts';

export interface ListSessionsOptions {
  readonly user: string;
  /** Includes sessions that were revoked at or after that time. */
  readonly revokedSince?: Date | undefined;
}

/** All fields except the fields that create or prove tokens. */
const projection = { token: 0, nonce: 0, kid: 0, gen: 0, parent: 0, floor: 0, opened_by: 0 } as const;

type VisibleSession = Omit<SessionDocument, keyof typeof projection>;

/** Returns a user's sessions, most recently used first. */
export async function listSessions(
  collections: Collections,
  { user, revokedSince }: ListSessionsOptions,
  now: Date,
): Promise<Outcome> {
  const { _id: user_id } = await loadUser(collections, user);
  // Each filter uses an existing index: live sessions by user, or revoked sessions by time.
  const filters = [
    { user_id, is_revoked: false },
    ...(revokedSince === undefined ? [] : [{ is_revoked: true, revoked_at: { $gte: revokedSince }, user_id }]),
  ];
  const found = await Promise.all(
    filters.map((filter) => collections.sessions.find<VisibleSession>(filter, { projection }).toArray()),
  );
  const sessions = found.flat().sort((a, b) => b.last_used_at.getTime() - a.last_used_at.getTime());
  const json = { user_id, sessions: sessions.map((session) => toView(session, now)) };
  const rows = json.sessions.map((row) => [
    row.session_id,
    row.state,
    row.platform,
    row.device_name,
    row.created_at,
    row.last_used_at,
    row.revoked_at,
    row.revoked_reason,
    row.revoked_request_id,
  ]);
  const head = ['session', 'state', 'platform', 'device', 'created', 'last used', 'ended', 'reason', 'by request'];
  return { json, text: sessions.length === 0 ? 'No sessions.' : table(head, rows) };
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
