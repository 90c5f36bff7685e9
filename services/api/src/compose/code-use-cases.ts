import type { CodePurpose } from '@auth-account/contracts/events';
import type { ResendCodeRequest } from '@auth-account/contracts/http/challenges';
import { hasSecondFactor } from '@auth-account/stores/second-factors';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { RequestOrigin } from '../request/request-origin.ts';
import { createOrderDeletion, type OrderDeletionDeps } from '../usecases/account/order-deletion.ts';
import { createConfirmDeletion, createScheduleDeletion } from '../usecases/account/schedule-deletion.ts';
import { type CheckCodeDeps, createCheckCode } from '../usecases/codes/check-code.ts';
import { createRequestCode, type RequestCodeDeps } from '../usecases/codes/request-code.ts';
import {
  createRequestCodeForAddress,
  type RequestCodeForAddressDeps,
} from '../usecases/codes/request-code-for-address.ts';
import { createResendCode, type ResendCodeDeps } from '../usecases/codes/resend-code.ts';
import { type ChangeEmailDeps, createChangeEmail } from '../usecases/credentials/change-email.ts';
import { createRequestEmailChange, type RequestEmailChangeDeps } from '../usecases/credentials/request-email-change.ts';
import {
  createRequestEmailVerification,
  type RequestEmailVerificationDeps,
} from '../usecases/credentials/request-email-verification.ts';
import { createResetPassword, type ResetPasswordDeps } from '../usecases/credentials/reset-password.ts';
import { createUndoEmailChange, type UndoEmailChangeDeps } from '../usecases/credentials/undo-email-change.ts';
import { createVerifyEmail, type VerifyEmailDeps } from '../usecases/credentials/verify-email.ts';
import {
  createOrderFactorRemoval,
  type OrderFactorRemovalDeps,
} from '../usecases/second-factor/order-factor-removal.ts';
import {
  createStopFactorRemoval,
  createStopFactorRemovalByToken,
  type StopFactorRemovalByTokenDeps,
  type StopFactorRemovalDeps,
} from '../usecases/second-factor/stop-factor-removal.ts';
import { createEndSessions, type EndSessionsDeps } from '../usecases/sessions/end-sessions.ts';
import { type ConfirmStepUpDeps, createConfirmStepUp } from '../usecases/step-up/confirm-step-up.ts';
import {
  type CreateStepUpChallengeDeps,
  createCreateStepUpChallenge,
} from '../usecases/step-up/create-step-up-challenge.ts';
import { createReauthenticate, type ReauthenticateDeps } from '../usecases/step-up/reauthenticate.ts';

type CodeDeps = RequestCodeDeps & ResendCodeDeps & CheckCodeDeps;
type PasswordDeps = RequestCodeForAddressDeps & ResetPasswordDeps & ReauthenticateDeps & EndSessionsDeps;
type EmailDeps = RequestEmailVerificationDeps &
  VerifyEmailDeps &
  RequestEmailChangeDeps &
  ChangeEmailDeps &
  UndoEmailChangeDeps;

type RemovalDeps = OrderFactorRemovalDeps & StopFactorRemovalDeps & StopFactorRemovalByTokenDeps;
type StepUpDeps = CreateStepUpChallengeDeps & ConfirmStepUpDeps;

/** Parts that {@link codeUseCases} makes from the other parts. */
type OwnParts = 'requestCode' | 'checkCode' | 'endSessions' | 'reauthenticate';

export type CodeUseCaseParts = Omit<
  CodeDeps & PasswordDeps & EmailDeps & RemovalDeps & StepUpDeps & OrderDeletionDeps,
  OwnParts
>;

/**
 * Creates the use cases of codes by e-mail with their dependencies. Also returns `requestCode` for the other use cases.
 */
export function codeUseCases(parts: CodeUseCaseParts) {
  const requestCode = createRequestCode(parts);
  const resendCode = createResendCode(parts);
  const resend = (purpose: CodePurpose) => (body: ResendCodeRequest, origin: RequestOrigin) =>
    resendCode(purpose, body, origin);
  const requesting = { ...parts, requestCode, reauthenticate: createReauthenticate(parts) };
  const endSessions = createEndSessions(parts);
  const orderDeletion = createOrderDeletion({ ...parts, endSessions });
  const confirming = { ...parts, checkCode: createCheckCode(parts), endSessions, orderDeletion };
  return {
    requestCode,
    // The order for each purpose: request, resend, confirm.
    requestPasswordReset: createRequestCodeForAddress(requesting, 'password_reset'),
    resendPasswordReset: resend('password_reset'),
    confirmPasswordReset: createResetPassword(confirming),

    requestDeletion: createRequestCodeForAddress(requesting, 'account_deletion'),
    resendDeletion: resend('account_deletion'),
    confirmDeletion: createConfirmDeletion(confirming),

    requestSecondFactorRemoval: createRequestCodeForAddress(requesting, 'second_factor_removal', hasSecondFactor),
    resendSecondFactorRemoval: resend('second_factor_removal'),
    confirmSecondFactorRemoval: createOrderFactorRemoval(confirming),
    stopSecondFactorRemoval: createStopFactorRemovalByToken(parts),
    deleteSecondFactorRemoval: createStopFactorRemoval(parts),

    requestEmailVerification: createRequestEmailVerification(requesting),
    resendEmailVerification: resend('email_verification'),
    confirmEmailVerification: createVerifyEmail(confirming),

    requestEmailChange: createRequestEmailChange(requesting),
    resendEmailChange: (body: ResendCodeRequest, caller: VerifiedAccessToken, origin: RequestOrigin) =>
      resendCode('email_change', body, origin, caller.user_id),
    confirmEmailChange: createChangeEmail(confirming),
    undoEmailChange: createUndoEmailChange(confirming),

    createStepUpChallenge: createCreateStepUpChallenge(requesting),
    confirmStepUp: createConfirmStepUp(confirming),

    scheduleDeletion: createScheduleDeletion({ ...requesting, orderDeletion }),
  };
}
