import type { SessionInfo, SignedOutReason } from '../events.ts';
import type { OperationTypes } from '../generated/operation-types.ts';
import { isRecord, parseJson } from '../http/exchange.ts';

/** A session as it is stored. The access token is not stored; it is only in memory. */
export interface StoredSession extends SessionInfo {
  readonly refresh_token: string;
  readonly push_stream_url: string;
}

/**
 * A session that the user has ended here, without the service knowing it yet. The token is used only for the logout.
 */
export interface PendingLogout {
  readonly session_id: string;
  readonly refresh_token: string;
}

/**
 * Everything that is stored about sessions, in one piece, so that a crash leaves either a whole change or none of it.
 */
export interface SessionRecord {
  /** Number of the write. The slot with the higher number is valid. */
  readonly n: number;
  /** Changes with each login and logout. An answer that belongs to an earlier era is ignored. */
  readonly era: string;
  readonly session?: StoredSession;
  /** Reason why the last session ended, if there is no session. */
  readonly reason?: SignedOutReason;
  readonly logouts: readonly PendingLogout[];
}

export type TokenPair = OperationTypes['logIn']['data'];

export const noRecord: SessionRecord = { n: 0, era: '', reason: 'no_session', logouts: [] };

/** Reads a slot. Returns undefined if it is empty or damaged, so that the other slot is used. */
export function parseRecord(text: string | undefined): SessionRecord | undefined {
  const value = parseJson(text ?? '');
  if (!isRecord(value) || typeof value.n !== 'number' || !Array.isArray(value.logouts)) return undefined;
  if (value.session !== undefined && !(isRecord(value.session) && typeof value.session.refresh_token === 'string')) {
    return undefined;
  }
  return value as unknown as SessionRecord;
}

export function sessionOf(pair: TokenPair): StoredSession {
  const { refresh_token, session_id, user_id, home_group_id, account_type, device_id, push_stream_url } = pair;
  return { refresh_token, session_id, user_id, home_group_id, account_type, device_id, push_stream_url };
}

/** Returns true if an answer has every part of a token pair that the client needs. */
export function isTokenPair(data: unknown): data is TokenPair {
  if (!isRecord(data)) return false;
  const texts = [data.access_token, data.refresh_token, data.session_id, data.user_id, data.home_group_id];
  return texts.every((text) => typeof text === 'string' && text !== '') && Number(data.expires_in) > 0;
}

/** Returns the record after the end of its session. With `isLogout`, the session is added to the pending logouts. */
export function endedRecord(
  record: SessionRecord,
  era: string,
  reason: SignedOutReason,
  isLogout: boolean,
): SessionRecord {
  const { n, session, logouts } = record;
  return { n: n + 1, era, reason, logouts: isLogout && session ? withLogout(logouts, session) : logouts };
}

/**
 * Returns the pending logouts of the first record. If `other` is not older and has the session of one of these logouts,
 * that logout gets the token of `other`. Another tab may have used this token, and the previous token would then count
 * as theft.
 */
export function logoutsAfter({ n, logouts }: SessionRecord, other: SessionRecord): SessionRecord['logouts'] {
  const { session } = other;
  return session && other.n >= n && logouts.some(({ session_id }) => session_id === session.session_id)
    ? withLogout(logouts, session)
    : logouts;
}

export function withLogout(logouts: readonly PendingLogout[], ended: PendingLogout): readonly PendingLogout[] {
  const { session_id, refresh_token } = ended;
  return [...logouts.filter((logout) => logout.session_id !== session_id), { session_id, refresh_token }];
}
