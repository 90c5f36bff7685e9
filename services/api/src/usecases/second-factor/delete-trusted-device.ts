import type { TrustEndedResponse } from '@auth-account/contracts/http/second-factor';
import type { SecondFactorStore } from '@auth-account/stores/second-factors';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { Audit } from '../../audit/audit.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';

export interface DeleteTrustedDeviceDeps {
  readonly secondFactors: Pick<SecondFactorStore, 'endTrust'>;
  readonly audit: Audit;
  readonly now: () => Date;
}

/** Ends the trust in a device of the caller's account. Its next login needs the second factor. */
export function createDeleteTrustedDevice({ secondFactors, audit, now }: DeleteTrustedDeviceDeps) {
  return async (
    device_id: string,
    { user_id, sid: session_id }: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<TrustEndedResponse['data']> => {
    await secondFactors.endTrust(user_id, device_id);
    audit({ event: 'account.trust_ended', user_id, session_id }, origin);
    return { message: 'TRUST_ENDED', device_id, timestamp: now().toISOString() };
  };
}
