import type { FactorsResponse } from '@auth-account/contracts/http/second-factor';
import { AppError } from '@auth-account/errors';
import type { UserStore } from '@auth-account/stores';
import { trustedDevicesOf } from '@auth-account/stores/second-factors';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';

export interface FindFactorsDeps {
  readonly users: Pick<UserStore, 'find'>;
  readonly now: () => Date;
}

/** Returns the factors of the caller's account. Raises `IAD_JWT_ACCESS_INVALID` if the account is gone. */
export function createFindFactors({ users, now }: FindFactorsDeps) {
  return async ({ user_id }: VerifiedAccessToken): Promise<FactorsResponse['data']> => {
    const user = await users.find(user_id);
    if (user === undefined) throw new AppError('IAD_JWT_ACCESS_INVALID');
    const { totp, recovery_codes = [], passkeys = [] } = user;
    const at = now();
    return {
      totp: { confirmed_at: totp?.confirmed_at.toISOString() ?? null },
      recovery_codes_left: recovery_codes.length,
      passkeys: passkeys.length,
      trusted_devices: trustedDevicesOf(user, at).map(({ device_id, trusted_at, until }) => ({
        device_id,
        trusted_at: trusted_at.toISOString(),
        trusted_until: until.toISOString(),
      })),
      removal: totp?.removal === undefined ? null : { due_at: totp.removal.due_at.toISOString() },
      timestamp: at.toISOString(),
    };
  };
}
