import { AppError } from '@auth-account/errors';
import type { Operations } from '../http/operations.ts';
import { type CheckCodeDeps, createCheckCode } from '../usecases/codes/check-code.ts';
import {
  createRequestCodeForAddress,
  type RequestCodeForAddressDeps,
} from '../usecases/codes/request-code-for-address.ts';
import { createResendCode, type ResendCodeDeps } from '../usecases/codes/resend-code.ts';
import { createLogInByCode, type LogInByCodeDeps } from '../usecases/login/log-in-by-code.ts';

type LoginCodeOperations = Pick<Operations, 'requestLoginCode' | 'resendLoginCode' | 'logInByCode'>;

export type LoginCodeParts = RequestCodeForAddressDeps &
  ResendCodeDeps &
  CheckCodeDeps &
  Omit<LogInByCodeDeps, 'checkCode'>;

/** Creates the use cases of a login by a code. If it is off, each answers that there is no such route. */
export function loginCodeUseCases(parts: LoginCodeParts, isOn: boolean): LoginCodeOperations {
  if (!isOn) return { requestLoginCode: refuse, resendLoginCode: refuse, logInByCode: refuse };
  const resendCode = createResendCode(parts);
  return {
    requestLoginCode: createRequestCodeForAddress(parts, 'login'),
    resendLoginCode: (body, origin) => resendCode('login', body, origin),
    logInByCode: createLogInByCode({ ...parts, checkCode: createCheckCode(parts) }),
  };
}

async function refuse(): Promise<never> {
  throw new AppError('ERR-ROUTE-NOT-FOUND');
}
