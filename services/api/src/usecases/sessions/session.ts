import { pushStreamPath } from '@auth-account/contracts';
import type { TokenResponse } from '@auth-account/contracts/http/login';
import type { PresentUser, SessionSummary } from '@auth-account/stores';
import type {
  HashPosition,
  PrecomputedHashes,
  RequestMark,
  SessionAuth,
  SessionDocument,
} from '@auth-account/stores/documents';
import { sessionAuth } from '@auth-account/stores/session-auth';
import { maxLiveSessions } from '@auth-account/stores/users';
import { type RefreshTokenParts, type RefreshTokens, refreshTokenHash } from '@auth-account/tokens';
import type { AccessTokenClaims } from '@auth-account/verifier/access-token';
import { Binary } from 'mongodb';
import type { EndedSessions } from '../../announcements/commit.ts';

/** A session that a login opens. */
export interface NewSession {
  readonly sessionId: string;
  readonly user: PresentUser;
  /** The device. Its id is made up if the app has sent none. */
  readonly device: Pick<SessionDocument, 'device_id' | 'is_device_named' | 'device_name' | 'platform'>;
  readonly auth: Omit<SessionAuth, 'at'>;
  readonly identityId: string | undefined;
  /** Key to which the session is bound. */
  readonly jkt: string | undefined;
  /** True if the device is trusted instead of a second factor. */
  readonly isTrusted: boolean;
  readonly marks: readonly RequestMark[];
  readonly nonce: Buffer;
  readonly requestId: string;
  readonly at: Date;
}

export interface NewSessionDeps {
  readonly refreshTokens: Pick<RefreshTokens, 'issue' | 'currentKid'>;
  readonly lifetime: SessionLifetime;
}

/** Returns the document of a new session. */
export function newSession({ refreshTokens, lifetime }: NewSessionDeps, opened: NewSession): SessionDocument {
  const { sessionId, user, device, auth, identityId, jkt, isTrusted, marks, nonce, requestId, at } = opened;
  const kid = refreshTokens.currentKid;
  const gen = 1;
  const token = { kid, sessionId, generation: gen };
  return {
    _id: sessionId,
    token: refreshTokenHash(refreshTokens.issue(token, nonce)),
    ahead: precomputedHashes(refreshTokens, token, nonce),
    user_id: user._id,
    is_revoked: false,
    nonce: new Binary(nonce),
    kid,
    gen,
    parent: 0,
    floor: 0,
    handed_out_at: at,
    claims: { home_group_id: user.home_group_id, account_type: user.account_type, ver: 1 },
    auth: { at, ...auth },
    ...(identityId !== undefined && { identity_id: identityId }),
    ...(jkt !== undefined && { cnf: { jkt } }),
    ...(isTrusted && { is_trusted: true }),
    ...device,
    created_at: at,
    created_request_id: requestId,
    ...(marks.length > 0 && { opened_by: marks }),
    last_used_at: at,
    ...newExpiry(at, lifetime),
  };
}

/**
 * Limit for the live sessions of one user. Above it, the session unused for longest ends
 * (docs/specification/login-and-tokens.md, "Login").
 */
const sessionLimit = 50;

/** Returns true if the account may have as many live sessions as it can. */
export function mayBeFull(user: PresentUser): boolean {
  return maxLiveSessions(user) >= sessionLimit;
}

/**
 * Returns true if a login that has read the `count` live sessions should store this number. That is worth a write only
 * if at least two later logins then need not read the sessions.
 */
export function isWorthNoting(user: PresentUser, count: number): boolean {
  return mayBeFull(user) && count + 2 <= sessionLimit;
}

/**
 * Returns the sessions that a login on this device ends: the device's previous session, and sessions above the limit.
 * In `live` the session unused for longest comes first.
 */
export function endedByLogin({ _id: userId }: PresentUser, live: readonly SessionSummary[], deviceId: string) {
  const replaced = live.filter((session) => session.device_id === deviceId);
  const others = live.filter((session) => session.device_id !== deviceId);
  const tooMany = others.slice(0, Math.max(0, others.length + 1 - sessionLimit));
  const groups: EndedSessions[] = [
    { userId, reason: 'replaced', sessionIds: replaced.map(({ _id }) => _id) },
    { userId, reason: 'session_limit', sessionIds: tooMany.map(({ _id }) => _id) },
  ];
  return groups.filter(({ sessionIds }) => sessionIds.length > 0);
}

/** Lifetime of a session, in seconds. */
export interface SessionLifetime {
  /** Seconds since the session's last use. */
  readonly idleSeconds: number;
  /** Seconds since the login. */
  readonly absoluteSeconds: number;
}

/** Returns the expiry times of a session that begins at `at`. */
function newExpiry(
  at: Date,
  { idleSeconds, absoluteSeconds }: SessionLifetime,
): Pick<SessionDocument, 'expires_at' | 'absolute_expires_at'> {
  const absolute_expires_at = addSeconds(at, absoluteSeconds);
  return { expires_at: earlier(addSeconds(at, idleSeconds), absolute_expires_at), absolute_expires_at };
}

/** Returns the idle expiry after a use at `at`. The session's absolute expiry may be earlier. */
export function idleExpiry(at: Date, { idleSeconds }: SessionLifetime): Date {
  return addSeconds(at, idleSeconds);
}

/** Returns the idle expiry after a use at `at`, limited by the absolute expiry. */
export function extendedExpiry(session: SessionDocument, at: Date, lifetime: SessionLifetime): Date {
  return earlier(idleExpiry(at, lifetime), session.absolute_expires_at);
}

function addSeconds(at: Date, seconds: number): Date {
  return new Date(at.getTime() + seconds * 1_000);
}

function earlier(a: Date, b: Date): Date {
  return a < b ? a : b;
}

export interface IssueTokensDeps {
  readonly signAccessToken: (claims: AccessTokenClaims) => string;
  readonly refreshTokens: Pick<RefreshTokens, 'issue'>;
  readonly accessTokenTtlSeconds: number;
  /** Base URL of the push gateway for apps. */
  readonly pushPublicUrl: string;
  readonly now: () => Date;
}

/** Creates the token pair of a session, using only the document that the write of the login or refresh returned. */
export type IssueTokens = (session: SessionDocument) => TokenResponse['data'];

export function createIssueTokens(deps: IssueTokensDeps): IssueTokens {
  const { signAccessToken, refreshTokens, accessTokenTtlSeconds, pushPublicUrl, now } = deps;
  return (session) => {
    const { _id: session_id, user_id, device_id, claims, kid, gen, nonce, expires_at, cnf } = session;
    const { at: provedAt, amr, acr } = sessionAuth(session);
    const { home_group_id, account_type, ver } = claims;
    const at = now();
    const access_token = signAccessToken({
      user_id,
      home_group_id,
      account_type,
      sid: session_id,
      ver,
      device_id,
      // A proof lies in the future if MongoDB's clock has gone back since. Verifiers refuse such a time.
      auth_time: Math.floor(Math.min(provedAt.getTime(), at.getTime()) / 1_000),
      amr,
      acr,
    });
    const push_stream_path = pushStreamPath(session_id);
    return {
      access_token,
      token_type: 'Bearer',
      expires_in: accessTokenTtlSeconds,
      refresh_token: refreshTokens.issue({ kid, sessionId: session_id, generation: gen }, Buffer.from(nonce.value())),
      refresh_expires_in: Math.max(1, Math.floor((expires_at.getTime() - at.getTime()) / 1_000)),
      ...(cnf && { bound: true as const }),
      user_id,
      home_group_id,
      account_type,
      session_id,
      device_id,
      push_stream_path,
      push_stream_url: pushPublicUrl.replace(/\/+$/, '') + push_stream_path,
      timestamp: at.toISOString(),
    };
  };
}

/**
 * Number of hashes in a block. Each takes 43 bytes of every session. Only one refresh in a block must read the session
 * first.
 */
const blockSize = 8;
/** Length of a SHA-256 in base64url, in characters. */
const hashLength = 43;

/** Returns the position of the generation's hash among the hashes of its block. */
export function positionOfHash(generation: number): HashPosition {
  const block = Math.floor(generation / blockSize);
  return { block, start: (generation - block * blockSize) * hashLength, length: hashLength };
}

/** Returns true if the session's stored block of hashes contains the hash of that token. */
export function hasHashOf({ ahead }: Pick<SessionDocument, 'ahead'>, { kid, generation }: RefreshTokenParts): boolean {
  return ahead?.kid === kid && ahead.block === positionOfHash(generation).block;
}

/**
 * Returns the hashes of the session's tokens for that generation's block. They are kept in the session, so that a
 * refresh can write the next token's hash before it has read the nonce from which the token is made.
 */
export function precomputedHashes(
  refreshTokens: Pick<RefreshTokens, 'issue'>,
  { kid, sessionId, generation }: RefreshTokenParts,
  nonce: Buffer,
): PrecomputedHashes {
  const { block } = positionOfHash(generation);
  const hashes = Array.from({ length: blockSize }, (_, place) =>
    refreshTokenHash(refreshTokens.issue({ kid, sessionId, generation: block * blockSize + place }, nonce)),
  );
  return { kid, block, hashes: hashes.join('') };
}
