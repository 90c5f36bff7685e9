import type { AccountExportResponse, ExportAccountRequest } from '@auth-account/contracts/http/account-export';
import { type ExportStores, exportAccount } from '@auth-account/stores/account-export';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { Audit } from '../../audit/audit.ts';
import type { Limits } from '../../limits/limits.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import type { Reauthenticate } from '../step-up/reauthenticate.ts';

export interface ExportAccountDeps extends ExportStores {
  readonly reauthenticate: Reauthenticate;
  readonly limits: Pick<Limits, 'exportAccount'>;
  readonly audit: Audit;
  readonly now: () => Date;
}

/**
 * Returns all data that is held about the caller: see {@link exportAccount}. Only exports with the right password count
 * for the limit, so that a thief who has a session but not the password can't use the limit up.
 *
 * Raises the errors of {@link Reauthenticate}, and `ERR-RATE-LIMITED`.
 */
export function createExportAccount({ reauthenticate, limits, audit, now, ...stores }: ExportAccountDeps) {
  return async (
    input: ExportAccountRequest,
    caller: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<AccountExportResponse['data']> => {
    const user = await reauthenticate(input, caller, origin, 'export');
    await limits.exportAccount(user, origin);
    const data = await exportAccount(stores, user, now);
    audit({ event: 'account.exported', user_id: user._id, session_id: caller.sid }, origin);
    return data;
  };
}
