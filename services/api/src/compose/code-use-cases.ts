import { type CheckCodeDeps, createCheckCode } from '../codes/check-code.ts';
import { type AnnounceCodeDeps, createAnnounceCode } from '../codes/code-event.ts';
import { createRequestCode, type RequestCodeDeps } from '../codes/request-code.ts';
import { createResendCode, type ResendCodeDeps } from '../codes/resend-code.ts';
import { type ChangeEmailDeps, createChangeEmail } from '../usecases/change-email.ts';
import { createEndSessions, type EndSessionsDeps } from '../usecases/end-sessions.ts';
import { createOrderDeletion, type OrderDeletionDeps } from '../usecases/order-deletion.ts';
import { createReauthenticate, type ReauthenticateDeps } from '../usecases/reauthenticate.ts';
import { createRequestCodeForAddress, type RequestCodeForAddressDeps } from '../usecases/request-code-for-address.ts';
import { createRequestEmailChange, type RequestEmailChangeDeps } from '../usecases/request-email-change.ts';
import {
  createRequestEmailVerification,
  type RequestEmailVerificationDeps,
} from '../usecases/request-email-verification.ts';
import { createResetPassword, type ResetPasswordDeps } from '../usecases/reset-password.ts';
import { createConfirmDeletion, createScheduleDeletion } from '../usecases/schedule-deletion.ts';
import { createUndoEmailChange, type UndoEmailChangeDeps } from '../usecases/undo-email-change.ts';
import { createVerifyEmail, type VerifyEmailDeps } from '../usecases/verify-email.ts';

type CodeDeps = AnnounceCodeDeps & RequestCodeDeps & ResendCodeDeps & CheckCodeDeps;
type PasswordDeps = RequestCodeForAddressDeps & ResetPasswordDeps & ReauthenticateDeps & EndSessionsDeps;
type EmailDeps = RequestEmailVerificationDeps &
  VerifyEmailDeps &
  RequestEmailChangeDeps &
  ChangeEmailDeps &
  UndoEmailChangeDeps;

/** Made here, of the others. */
type OwnParts = 'announceCode' | 'requestCode' | 'checkCode' | 'endSessions' | 'reauthenticate';

export type CodeUseCaseParts = Omit<CodeDeps & PasswordDeps & EmailDeps & OrderDeletionDeps, OwnParts>;

/** Gives the use cases of codes by e-mail the dependencies that they name. */
export function codeUseCases(parts: CodeUseCaseParts) {
  const sending = { ...parts, announceCode: createAnnounceCode(parts) };
  const requestCode = createRequestCode(sending);
  const requesting = { ...parts, requestCode, reauthenticate: createReauthenticate(parts) };
  const endSessions = createEndSessions(parts);
  const orderDeletion = createOrderDeletion({ ...parts, endSessions });
  const confirming = { ...parts, checkCode: createCheckCode(parts), endSessions, orderDeletion };
  return {
    requestCode,
    resendCode: createResendCode(sending),
    requestPasswordReset: createRequestCodeForAddress(requesting, 'password_reset'),
    scheduleDeletion: createScheduleDeletion({ ...requesting, orderDeletion }),
    requestDeletion: createRequestCodeForAddress(requesting, 'account_deletion'),
    confirmDeletion: createConfirmDeletion(confirming),
    resetPassword: createResetPassword(confirming),
    requestEmailVerification: createRequestEmailVerification(requesting),
    verifyEmail: createVerifyEmail(confirming),
    requestEmailChange: createRequestEmailChange(requesting),
    changeEmail: createChangeEmail(confirming),
    undoEmailChange: createUndoEmailChange(confirming),
  };
}
