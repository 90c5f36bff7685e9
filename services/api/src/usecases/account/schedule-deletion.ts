import type { ConfirmCodeRequest } from '@auth-account/contracts/http/challenges';
import type { DeletionRequest, DeletionScheduledResponse } from '@auth-account/contracts/http/deletion';
import { AppError } from '@auth-account/errors';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { Limits } from '../../limits/limits.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import type { CheckCode } from '../codes/check-code.ts';
import { codeInvalid } from '../proofs/use-proof.ts';
import type { Reauthenticate } from '../step-up/reauthenticate.ts';
import type { OrderDeletion } from './order-deletion.ts';

type Scheduled = DeletionScheduledResponse['data'];

export interface ScheduleDeletionDeps {
  readonly orderDeletion: OrderDeletion;
  readonly reauthenticate: Reauthenticate;
}

/**
 * Orders the deletion of the caller's account.
 *
 * Raises the errors of {@link OrderDeletion} and, even if the password was changed only after the check, those of
 * {@link Reauthenticate}.
 */
export function createScheduleDeletion({ orderDeletion, reauthenticate }: ScheduleDeletionDeps) {
  return async (input: DeletionRequest, caller: VerifiedAccessToken, origin: RequestOrigin): Promise<Scheduled> => {
    const user = await reauthenticate(input, caller, origin, 'deletion');
    const changed = () => new AppError('ERR-REAUTHENTICATION-FAILED');
    return orderDeletion({ user, sessionId: caller.sid, changed }, origin);
  };
}

export interface ConfirmDeletionDeps {
  readonly orderDeletion: OrderDeletion;
  readonly checkCode: CheckCode;
  readonly limits: Pick<Limits, 'tryCode'>;
}

/**
 * Orders the deletion of the account with a code from its mailbox, without an app. If the email address was never
 * verified, somebody else may have registered it. Then the password becomes unusable, so that a restore needs a reset
 * first. Raises the errors of {@link CheckCode}, and `ERR-RATE-LIMITED`.
 */
export function createConfirmDeletion({ orderDeletion, checkCode, limits }: ConfirmDeletionDeps) {
  return async (input: ConfirmCodeRequest, origin: RequestOrigin): Promise<Scheduled> => {
    await limits.tryCode(origin);
    const code = await checkCode('account_deletion', input, origin);
    return orderDeletion({ user: code.user, code, changed: codeInvalid }, origin);
  };
}
