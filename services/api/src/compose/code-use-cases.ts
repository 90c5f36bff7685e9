import { type CheckCodeDeps, createCheckCode } from '../codes/check-code.ts';
import { type AnnounceCodeDeps, createAnnounceCode } from '../codes/code-event.ts';
import { createRequestCode, type RequestCodeDeps } from '../codes/request-code.ts';
import { createResendCode, type ResendCodeDeps } from '../codes/resend-code.ts';
import { createEndSessions, type EndSessionsDeps } from '../usecases/end-sessions.ts';
import { createRequestPasswordReset, type RequestPasswordResetDeps } from '../usecases/request-password-reset.ts';
import { createResetPassword, type ResetPasswordDeps } from '../usecases/reset-password.ts';

/** Made here, of the others. */
type OwnParts = 'announceCode' | 'requestCode' | 'checkCode' | 'endSessions';

type CodeDeps = AnnounceCodeDeps & RequestCodeDeps & ResendCodeDeps & CheckCodeDeps & EndSessionsDeps;

export type CodeUseCaseParts = Omit<CodeDeps & RequestPasswordResetDeps & ResetPasswordDeps, OwnParts>;

/** Gives the use cases of codes by e-mail the dependencies that they name. */
export function codeUseCases(parts: CodeUseCaseParts) {
  const sending = { ...parts, announceCode: createAnnounceCode(parts) };
  const requestCode = createRequestCode(sending);
  const confirming = { ...parts, checkCode: createCheckCode(parts), endSessions: createEndSessions(parts) };
  return {
    resendCode: createResendCode(sending),
    requestPasswordReset: createRequestPasswordReset({ ...parts, requestCode }),
    resetPassword: createResetPassword(confirming),
  };
}
