import type { RefreshRequest, TokenResponse } from '@auth-account/contracts';
import { AppError } from '@auth-account/errors';
import type { SessionDocument, SessionStore } from '@auth-account/stores';
import { type RefreshTokenParts, type RefreshTokens, refreshTokenHash } from '@auth-account/tokens';
import type { Announcement } from '../push/announce-revocations.ts';
import type { RequestOrigin } from '../request-origin.ts';
import { decideRefresh, type Generations } from './decide-refresh.ts';
import type { IssueTokens } from './issue-tokens.ts';
import { extendedExpiry, type SessionLifetime } from './session-lifetime.ts';

export interface RefreshDeps {
  readonly sessions: Pick<SessionStore, 'find' | 'rotate' | 'revokeAll'>;
  readonly refreshTokens: RefreshTokens;
  readonly issueTokens: IssueTokens;
  readonly announce: (announcement: Announcement) => Promise<void>;
  readonly lifetime: SessionLifetime;
  readonly retryWindowMs: number;
  readonly now: () => Date;
}

/**
 * Refresh token rotation that converges (decisions, "Refresh"; OAuth 2.0 Security BCP, RFC 9700 section 4.14). Checked
 * in this order: HMAC, revoked, expiry, generation.
 *
 * Raises `IAD_JWT_REFRESH_EXPIRED` for what is expired or not ours, `IAD_JWT_REFRESH_STOLEN` for a token of a revoked
 * session and for one that was void, which revokes its session.
 */
export function createRefresh(
  deps: RefreshDeps,
): (input: RefreshRequest, origin: RequestOrigin) => Promise<TokenResponse['data']> {
  const { sessions, refreshTokens, issueTokens, announce, retryWindowMs, now } = deps;

  async function findGenuine(token: string, parts: RefreshTokenParts): Promise<SessionDocument> {
    const session = await sessions.find(parts.sessionId);
    if (session === undefined || !refreshTokens.isGenuine(token, Buffer.from(session.nonce.value()))) {
      throw new AppError('IAD_JWT_REFRESH_EXPIRED');
    }
    if (session.is_revoked) throw new AppError('IAD_JWT_REFRESH_STOLEN');
    if (session.expires_at <= now()) throw new AppError('IAD_JWT_REFRESH_EXPIRED');
    return session;
  }

  async function revokeStolen(session: SessionDocument, requestId: string): Promise<never> {
    const at = now();
    await sessions.revokeAll([session._id], { reason: 'refresh_token_reuse', at, requestId });
    await announce({ sessionIds: [session._id], reason: 'SESSION_REVOKED', requestId, at });
    throw new AppError('IAD_JWT_REFRESH_STOLEN');
  }

  return async ({ refresh_token: token }, { requestId }) => {
    const parts = refreshTokens.parse(token);
    if (parts === undefined) throw new AppError('IAD_JWT_REFRESH_EXPIRED');
    // Each round that finds the session changed is another request's success: it ends.
    for (;;) {
      const session = await findGenuine(token, parts);
      const decision = decideRefresh(session, parts.generation, now(), retryWindowMs);
      if (decision.kind === 'reuse') return revokeStolen(session, requestId);
      if (decision.kind === 'repeat') return issueTokens(session);
      const rotated = await sessions.rotate(session, rotation(deps, session, decision.next));
      if (rotated !== undefined) return issueTokens(rotated);
    }
  };
}

function rotation({ refreshTokens, lifetime, now }: RefreshDeps, session: SessionDocument, next: Generations) {
  const at = now();
  const kid = refreshTokens.currentKid;
  const parts = { kid, sessionId: session._id, generation: next.gen };
  return {
    ...next,
    kid,
    token: refreshTokenHash(refreshTokens.issue(parts, Buffer.from(session.nonce.value()))),
    handed_out_at: at,
    last_used_at: at,
    expires_at: extendedExpiry(session, at, lifetime),
  };
}
