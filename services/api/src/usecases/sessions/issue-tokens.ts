import { pushStreamPath } from '@auth-account/contracts';
import type { TokenResponse } from '@auth-account/contracts/http/login';
import type { SessionDocument } from '@auth-account/stores/documents';
import { sessionAuth } from '@auth-account/stores/session-auth';
import type { RefreshTokens } from '@auth-account/tokens';
import type { AccessTokenClaims } from '@auth-account/verifier/access-token';

export interface IssueTokensDeps {
  readonly signAccessToken: (claims: AccessTokenClaims) => string;
  readonly refreshTokens: Pick<RefreshTokens, 'issue'>;
  readonly accessTokenTtlSeconds: number;
  /** Base address of the push gateway for apps. */
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
