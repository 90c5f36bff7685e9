import type { TrustEndedResponse } from '@auth-account/contracts/http/second-factor';
import type { SecondFactorStore } from '@auth-account/stores/second-factors';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import { type Commit, none } from '../../announcements/commit.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';

export interface DeleteTrustedDeviceDeps {
  readonly secondFactors: Pick<SecondFactorStore, 'endTrust'>;
  readonly commit: Commit;
  readonly now: () => Date;
}

/** Ends the trust in a device of the caller's account. Its next login needs the second factor. */
export function createDeleteTrustedDevice({ secondFactors, commit, now }: DeleteTrustedDeviceDeps) {
  return async (
    device_id: string,
    { user_id, sid: session_id }: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<TrustEndedResponse['data']> => {
    const at = now();
    await commit(
      {
        at,
        isCommitted: 'by event',
        ifClientLeft: 'commit',
        async work(session) {
          await secondFactors.endTrust(user_id, device_id, session);
          const audit = { event: 'account.trust_ended', user_id, session_id } as const;
          return { events: none, audit: [audit], sessions: none };
        },
      },
      origin,
    );
    return { message: 'TRUST_ENDED', device_id, timestamp: at.toISOString() };
  };
}
