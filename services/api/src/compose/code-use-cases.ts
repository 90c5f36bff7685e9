import { type CheckCodeDeps, createCheckCode } from '../codes/check-code.ts';
import { type AnnounceCodeDeps, createAnnounceCode } from '../codes/code-event.ts';
import { createRequestCode, type RequestCodeDeps } from '../codes/request-code.ts';
import { createResendCode, type ResendCodeDeps } from '../codes/resend-code.ts';
import { type ChangeEmailDeps, createChangeEmail } from '../usecases/change-email.ts';
import { createEndSessions, type EndSessionsDeps } from '../usecases/end-sessions.ts';
import { createReauthenticate, type ReauthenticateDeps } from '../usecases/reauthenticate.ts';
import { createRequestEmailChange, type RequestEmailChangeDeps } from '../usecases/request-email-change.ts';
import {
  createRequestEmailVerification,
  type RequestEmailVerificationDeps,
} from '../usecases/request-email-verification.ts';
import { createRequestPasswordReset, type RequestPasswordResetDeps } from '../usecases/request-password-reset.ts';
import { createResetPassword, type ResetPasswordDeps } from '../usecases/reset-password.ts';
import { createUndoEmailChange, type UndoEmailChangeDeps } from '../usecases/undo-email-change.ts';
import { createVerifyEmail, type VerifyEmailDeps } from '../usecases/verify-email.ts';

type CodeDeps = AnnounceCodeDeps & RequestCodeDeps & ResendCodeDeps & CheckCodeDeps;
type PasswordDeps = RequestPasswordResetDeps & ResetPasswordDeps & ReauthenticateDeps & EndSessionsDeps;
type EmailDeps = RequestEmailVerificationDeps &
  VerifyEmailDeps &
  RequestEmailChangeDeps &
  ChangeEmailDeps &
  UndoEmailChangeDeps;

/** Made here, of the others. */
type OwnParts = 'announceCode' | 'requestCode' | 'checkCode' | 'endSessions' | 'reauthenticate';

export type CodeUseCaseParts = Omit<CodeDeps & PasswordDeps & EmailDeps, OwnParts>;

/** Gives the use cases of codes by e-mail the dependencies that they name. */
export function codeUseCases(parts: CodeUseCaseParts) {
  const sending = { ...parts, announceCode: createAnnounceCode(parts) };
  const requestCode = createRequestCode(sending);
  const requesting = { ...parts, requestCode, reauthenticate: createReauthenticate(parts) };
  const confirming = { ...parts, checkCode: createCheckCode(parts), endSessions: createEndSessions(parts) };
  return {
    requestCode,
    resendCode: createResendCode(sending),
    requestPasswordReset: createRequestPasswordReset(requesting),
    resetPassword: createResetPassword(confirming),
    requestEmailVerification: createRequestEmailVerification(requesting),
    verifyEmail: createVerifyEmail(confirming),
    requestEmailChange: createRequestEmailChange(requesting),
    changeEmail: createChangeEmail(confirming),
    undoEmailChange: createUndoEmailChange(confirming),
  };
}
