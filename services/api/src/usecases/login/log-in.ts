import { LoginRequest } from '@auth-account/contracts/http/login';
import { canonicalBody, type OpenIdempotent } from '../../idempotency/open-idempotent.ts';
import { provenKey, type RequestOrigin } from '../../request/request-origin.ts';
import type { Authenticate } from '../proofs/check-password.ts';
import type { CompleteLogin } from './complete-login.ts';
import type { OpenedSession } from './proved-login.ts';

export interface LogInDeps {
  readonly authenticate: Authenticate;
  readonly openIdempotent: OpenIdempotent;
  readonly completeLogin: CompleteLogin;
}

/**
 * Logs a user in by email address and password (docs/specification/login-and-tokens.md, "Login").
 *
 * Raises the errors of {@link Authenticate} and, if the password is right, of {@link CompleteLogin}.
 */
export function createLogIn({ authenticate, openIdempotent, completeLogin }: LogInDeps) {
  return async (input: LoginRequest, origin: RequestOrigin): Promise<OpenedSession> => {
    const seen = await authenticate(input, origin);
    // The marks ignore the password, because it was verified.
    const { email: _email, password: _password, ...rest } = input;
    // A request with the key of another device is another request.
    const body = canonicalBody(LoginRequest, rest) + (provenKey(origin) ?? '');
    const { marks } = openIdempotent({ route: 'login', caller: seen._id, key: origin.idempotencyKey, body });
    return completeLogin({ seen, device: input, method: 'password', auth: { amr: ['pwd'], acr: '1' }, marks }, origin);
  };
}
