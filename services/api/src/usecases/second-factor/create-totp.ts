import { randomUUID } from 'node:crypto';
import {
  type ReauthenticatedRequest,
  type TotpCreatedResponse,
  totpEnrolmentSeconds,
} from '@auth-account/contracts/http/second-factor';
import { AppError } from '@auth-account/errors';
import { credentialsVersion } from '@auth-account/stores/credentials';
import type { SecondFactorStore } from '@auth-account/stores/second-factors';
import type { SealedSecrets } from '@auth-account/tokens';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import { Binary } from 'mongodb';
import { type Commit, none } from '../../announcements/commit.ts';
import type { Limits } from '../../limits/limits.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import { toBase32 } from '../../security/base32.ts';
import { newTotpSeed, otpauthUri } from '../../security/totp.ts';
import type { Reauthenticate } from '../step-up/reauthenticate.ts';

export interface CreateTotpDeps {
  readonly secondFactors: Pick<SecondFactorStore, 'enrol'>;
  readonly sealedSecrets: Pick<SealedSecrets, 'seal'>;
  readonly reauthenticate: Reauthenticate;
  readonly commit: Commit;
  /** Name of the service in authenticator apps. */
  readonly totpIssuer: string;
  readonly limits: Pick<Limits, 'write'>;
  readonly now: () => Date;
}

/**
 * Begins to add an authenticator app to the caller's account (docs/specification/sign-in.md, "Second factor"). It
 * changes no sign-in method until a code of the app is confirmed. An earlier enrolment that is not confirmed is
 * replaced.
 *
 * Raises the errors of {@link Reauthenticate}, even if a sign-in method was changed only after the check.
 */
export function createEnrolTotp(deps: CreateTotpDeps) {
  const { secondFactors, sealedSecrets, reauthenticate, commit, totpIssuer, limits, now } = deps;

  return async (
    input: ReauthenticatedRequest,
    caller: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<TotpCreatedResponse['data']> => {
    const user = await reauthenticate(input, caller, origin, 'totp');
    await limits.write(caller.sid, origin);
    const at = now();
    const [factor_id, seed] = [randomUUID(), newTotpSeed()];
    const { kid, box } = sealedSecrets.seal(seed, { userId: user._id, factorId: factor_id });
    const until = new Date(at.getTime() + totpEnrolmentSeconds * 1_000);
    const pending = { factor_id, kid, seed: new Binary(box), until, version: credentialsVersion(user) };
    await commit(
      {
        at,
        isCommitted: 'by event',
        ifClientLeft: 'abort',
        async work(session) {
          const isStored = await secondFactors.enrol(user, pending, session);
          if (!isStored) throw new AppError('ERR-REAUTHENTICATION-FAILED');
          return { events: none, audit: none, sessions: none };
        },
      },
      origin,
    );
    return {
      factor_id,
      secret: toBase32(seed),
      otpauth_uri: otpauthUri({ issuer: totpIssuer, account: user.email }, seed),
      expires_at: until.toISOString(),
      timestamp: at.toISOString(),
    };
  };
}
