import type { SessionInfo, SignedOutReason } from '../events.ts';
import type { OperationTypes } from '../generated/operation-types.ts';
import { isRecord, parseJson } from '../http/exchange.ts';

/** A session as it is stored. The access token is not: it is in memory only. */
export interface StoredSession extends SessionInfo {
  readonly refresh_token: string;
  readonly push_stream_url: string;
}

/** A session that the user has ended here and the service does not know of yet. Nothing but its logout uses the token. */
export interface PendingLogout {
  readonly session_id: string;
  readonly refresh_token: string;
}

/** All that is stored of sessions, in one piece: a crash finds either all of a change or nothing of it. */
export interface SessionRecord {
  /** Counts the writes. Of the two slots, the higher one is valid. */
  readonly n: number;
  /** A new one with each login and logout: an answer of an earlier era comes too late. */
  readonly era: string;
  readonly session?: StoredSession;
  /** What ended the last session, if there is none. */
  readonly reason?: SignedOutReason;
  readonly logouts: readonly PendingLogout[];
}

export type TokenPair = OperationTypes['logIn']['data'];

export const noRecord: SessionRecord = { n: 0, era: '', reason: 'no_session', logouts: [] };

/** Reads a slot; undefined if it is empty or damaged, so that the other one is taken. */
export function parseRecord(text: string | null | undefined): SessionRecord | undefined {
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

/** Returns true if an answer has everything of a token pair that the client lives on. */
export function isTokenPair(data: unknown): data is TokenPair {
  if (!isRecord(data)) return false;
  const texts = [data.access_token, data.refresh_token, data.session_id, data.user_id, data.home_group_id];
  return texts.every((text) => typeof text === 'string' && text !== '') && Number(data.expires_in) > 0;
}

/** The record after the end of its session, which is to be logged out if the service does not know of the end. */
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
 * The logouts of `record`, with the token of another record of their session if that is newer: another tab may use it by
 * now, after which the one before counts as theft.
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
