import type { TokenResponse } from '@auth-account/contracts/http/login';
import type { RefreshRequest } from '@auth-account/contracts/http/refresh';
import { AppError } from '@auth-account/errors';
import type { SessionStore } from '@auth-account/stores';
import type { RevocationReason, SessionDocument } from '@auth-account/stores/documents';
import { recordedReasonOf } from '@auth-account/stores/recorded-reason';
import { type RefreshTokenParts, type RefreshTokens, refreshTokenHash } from '@auth-account/tokens';
import { type Announcement, createAnnounceAgain, type IsDenied } from '../../announcements/announce.ts';
import type { Audit } from '../../audit/audit.ts';
import type { Limits } from '../../limits/limits.ts';
import { assertClientConnected } from '../../request/assert-client-connected.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import { createAwaitKey } from '../../security/await-key.ts';
import { type AwaitHold, createAwaitHold } from './await-hold.ts';
import { decideRefresh, type Generations } from './decide-refresh.ts';
import {
  extendedExpiry,
  hasHashOf,
  type IssueTokens,
  idleExpiry,
  positionOfHash,
  precomputedHashes,
  type SessionLifetime,
} from './session.ts';

export interface RefreshDeps {
  readonly sessions: Pick<SessionStore, 'advance' | 'find' | 'findConfirmed' | 'rotate' | 'revokeAll'>;
  readonly refreshTokens: RefreshTokens;
  readonly issueTokens: IssueTokens;
  readonly announce: (announcement: Announcement) => Promise<void>;
  readonly isDenied: IsDenied;
  readonly limits: Pick<Limits, 'refresh'>;
  readonly audit: Audit;
  readonly lifetime: SessionLifetime;
  readonly retryWindowMs: number;
  readonly now: () => Date;
}

type FindSession = SessionStore['find'];

/** A refresh token as sent, with its parts. */
interface Presented {
  readonly token: string;
  readonly parts: RefreshTokenParts;
  readonly origin: RequestOrigin;
}

/** A refresh that reads the session before it writes. */
interface ReadingRefresh extends Presented {
  readonly awaitHold: AwaitHold;
}

/**
 * Rotates refresh tokens so that concurrent requests converge (docs/specification/refresh.md, "Generations"; OAuth 2.0
 * Security BCP, RFC 9700 section 4.14). Checked in this order: HMAC, revoked, expiry, proof of the device's key,
 * generation.
 *
 * Raises `IAD_JWT_REFRESH_EXPIRED` for a token that is expired, not genuine or not proven; `IAD_JWT_REFRESH_STOLEN` for
 * a token of a revoked session, and for a revoked token, whose session it revokes; `ERR-RATE-LIMITED`; and
 * `ERR-DEPENDENCY-UNAVAILABLE` if another api has made the session's newest token with a key that has not arrived here
 * yet, or if a change that ends or moves the session takes too long ({@link createAwaitHold}).
 */
export function createRefresh(
  deps: RefreshDeps,
): (input: RefreshRequest, origin: RequestOrigin) => Promise<TokenResponse['data']> {
  const { sessions, refreshTokens, issueTokens, limits, audit, retryWindowMs, now } = deps;
  const advance = createAdvance(deps);
  const findGenuine = createFindGenuine(deps);
  const revokeStolen = createRevokeStolen(deps);
  const beginWait = createAwaitHold();

  function handOut(
    event: 'refresh.rotated' | 'refresh.converged',
    session: SessionDocument,
    origin: RequestOrigin,
  ): TokenResponse['data'] {
    audit({ event, ...idsOf(session) }, origin);
    return issueTokens(session);
  }

  /** Returns undefined if another request holds the session, or has changed it since it was read. */
  async function attempt(find: FindSession, presented: ReadingRefresh): Promise<TokenResponse['data'] | undefined> {
    const { parts, origin, awaitHold } = presented;
    const session = await findGenuine(find, presented);
    const decision = decideRefresh(session, parts.generation, now(), retryWindowMs);
    if (decision.kind === 'reuse') return revokeStolen(session, origin);
    if (decision.kind === 'repeat') {
      if (find === sessions.findConfirmed) return handOut('refresh.converged', session, origin);
      // This branch makes no write that a majority must confirm, so the session is read again with majority concern
      // before tokens are signed.
      return attempt(sessions.findConfirmed, presented);
    }
    if (!(await awaitHold(session))) return;
    const rotated = await sessions.rotate(session, rotation(deps, session, decision.next));
    return rotated && handOut('refresh.rotated', rotated, origin);
  }

  return async ({ refresh_token: token }, origin) => {
    await limits.refresh(origin);
    const parts = refreshTokens.parse(token);
    if (parts === undefined) throw expired(audit, 'not_genuine', origin);
    const presented = { token, parts, origin };
    const advanced = await advance(presented);
    if (advanced !== undefined) return handOut('refresh.rotated', advanced, origin);
    const reading = { ...presented, awaitHold: beginWait() };
    // The loop ends, because a changed session means that another request has succeeded, and a hold is awaited for a
    // limited time.
    for (;;) {
      const tokens = await attempt(sessions.find, reading);
      if (tokens !== undefined) return tokens;
    }
  };
}

/**
 * Refreshes as usual, with the newest token of a live session. It needs one write, and decides as {@link decideRefresh}
 * would. It returns undefined if the session must be read.
 */
function createAdvance({ sessions, refreshTokens, lifetime, now }: RefreshDeps) {
  return async ({ token, parts: { kid, sessionId, generation }, origin }: Presented) => {
    const next = positionOfHash(generation + 1);
    const isAhead = next.block === positionOfHash(generation).block;
    if (!isAhead || kid !== refreshTokens.currentKid) return;
    const at = now();
    const expiresAt = idleExpiry(at, lifetime);
    const hash = refreshTokenHash(token);
    const jkt = refreshKey(origin, hash);
    const advanced = await sessions.advance({ sessionId, token: hash, generation, kid, next, jkt, at, expiresAt });
    // The hash alone shows only that the service has made the token. It does not show that the key and the stored nonce
    // are still the same.
    const isGenuine = advanced !== undefined && refreshTokens.isGenuine(token, Buffer.from(advanced.nonce.value()));
    return isGenuine ? advanced : undefined;
  };
}

/** Finds the live session of a genuine token. */
function createFindGenuine(deps: RefreshDeps) {
  const { sessions, refreshTokens, audit, now } = deps;
  const awaitKey = createAwaitKey(refreshTokens, now, 'refresh');
  const announceAgain = createAnnounceAgain(deps);

  async function findGenuine(find: FindSession, presented: Presented): Promise<SessionDocument> {
    const { token, parts, origin } = presented;
    const session = await find(parts.sessionId);
    if (find !== sessions.findConfirmed && isGone(session, now()))
      return findGenuine(sessions.findConfirmed, presented);
    if (session !== undefined) await awaitKey(session);
    if (session === undefined || !refreshTokens.isGenuine(token, Buffer.from(session.nonce.value()))) {
      throw expired(audit, 'not_genuine', origin);
    }
    if (session.is_revoked) {
      // Only an end that cannot be rolled back is reported. It is announced again, because the request that ended the
      // session may have been answered 503.
      const isOver = await announceAgain(session._id);
      if (!isOver) return findGenuine(sessions.findConfirmed, presented);
      audit({ event: 'refresh.revoked', ...idsOf(session) }, origin);
      throw sessionEnded(session.revoked_reason);
    }
    const refusal = refusalOf(session, presented, now());
    if (refusal !== undefined) throw expired(audit, refusal, origin, session);
    return session;
  }

  return findGenuine;
}

/** Returns the key that has proven the refresh with the token of that hash. */
function refreshKey({ proof }: RequestOrigin, tokenHash: string): string | undefined {
  return typeof proof === 'object' && proof.rth === tokenHash ? proof.jkt : undefined;
}

/**
 * Returns the reason why a live session must not be refreshed by this request. A missing or wrong proof is no theft,
 * because a restored backup of the app's data comes without the key. An unbound session needs no proof, and stays
 * unbound.
 */
function refusalOf({ cnf, expires_at }: SessionDocument, { token, origin }: Presented, at: Date) {
  if (expires_at <= at) return 'expired';
  if (cnf === undefined) return;
  if (origin.proof === undefined) return 'proof_missing';
  const jkt = refreshKey(origin, refreshTokenHash(token));
  if (jkt === undefined) return 'proof_wrong';
  return jkt === cnf.jkt ? undefined : 'proof_of_other_key';
}

/**
 * Returns true if the session is missing or has expired. Then the session is read again, because a refusal logs its
 * owner out for good. A replaced primary may know neither the session nor its last use, and an erasure may be rolled
 * back.
 */
function isGone(session: SessionDocument | undefined, at: Date): boolean {
  return session === undefined || (!session.is_revoked && session.expires_at <= at);
}

/** Ends a session when one of its revoked tokens is presented. */
function createRevokeStolen({ sessions, announce, audit, now }: RefreshDeps) {
  return async (session: SessionDocument, origin: RequestOrigin): Promise<never> => {
    const { requestId } = origin;
    // If the client has left, its app may have sent another refresh since, and so revoked this token. A thief who hangs
    // up only delays the detection and gains nothing. This event shows such cases.
    if (origin.isAbandoned?.()) audit({ event: 'refresh.abandoned', ...idsOf(session) }, origin);
    assertClientConnected(origin);
    const at = now();
    const reason = 'refresh_token_reuse';
    audit({ event: 'refresh.stolen', ...idsOf(session) }, origin);
    await sessions.revokeAll([session._id], { reason, at, requestId });
    audit({ event: 'session.revoked', ...idsOf(session), reason }, origin);
    await announce({ sessionIds: [session._id], reason: 'SESSION_REVOKED', requestId, at });
    throw sessionEnded(reason);
  };
}

function expired(
  audit: Audit,
  reason: 'not_genuine' | NonNullable<ReturnType<typeof refusalOf>>,
  origin: RequestOrigin,
  session?: SessionDocument,
): AppError {
  audit({ event: 'refresh.expired', user_id: session?.user_id, session_id: session?._id, reason }, origin);
  return new AppError('IAD_JWT_REFRESH_EXPIRED');
}

function idsOf({ user_id, _id: session_id }: SessionDocument) {
  return { user_id, session_id };
}

function rotation({ refreshTokens, lifetime, now }: RefreshDeps, session: SessionDocument, next: Generations) {
  const at = now();
  const kid = refreshTokens.currentKid;
  const parts = { kid, sessionId: session._id, generation: next.gen };
  const nonce = Buffer.from(session.nonce.value());
  return {
    ...next,
    kid,
    token: refreshTokenHash(refreshTokens.issue(parts, nonce)),
    ...(hasHashOf(session, parts) ? {} : { ahead: precomputedHashes(refreshTokens, parts, nonce) }),
    handed_out_at: at,
    last_used_at: at,
    expires_at: extendedExpiry(session, at, lifetime),
  };
}

/**
 * Creates the error for a refresh token whose session was revoked for that reason. Only the holder of a genuine token
 * may learn the reason. If the reason is missing, or comes from a newer version, the error names no reason.
 */
function sessionEnded(reason: RevocationReason | undefined): AppError<'IAD_JWT_REFRESH_STOLEN'> {
  const notified = recordedReasonOf(reason);
  return new AppError('IAD_JWT_REFRESH_STOLEN', { details: notified === undefined ? {} : { reason: notified } });
}
