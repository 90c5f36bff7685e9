import { LoginRequest } from '@auth-account/contracts/http/login';
import { canonicalBody, type OpenIdempotent } from '../../idempotency/open-idempotent.ts';
import { provenKey, type RequestOrigin } from '../../request/request-origin.ts';
import type { AssertEmailVerified } from './assert-email-verified.ts';
import { type AuthenticateDeps, createAuthenticate } from './authenticate.ts';
import type { DemandSecondFactor } from './demand-second-factor.ts';
import type { OpenedSession, OpenSession } from './open-session.ts';

export interface LogInDeps extends AuthenticateDeps {
  readonly openSession: OpenSession;
  readonly openIdempotent: OpenIdempotent;
  readonly assertEmailVerified: AssertEmailVerified;
  readonly demandSecondFactor: DemandSecondFactor;
}

/**
 * Logs a user in by address and password (docs/specification/login-and-tokens.md, "Login").
 *
 * Raises the errors of {@link createAuthenticate}. If the password is right, it can also raise the errors of
 * {@link AssertEmailVerified}, {@link DemandSecondFactor} and {@link OpenSession}.
 */
export function createLogIn(deps: LogInDeps): (input: LoginRequest, origin: RequestOrigin) => Promise<OpenedSession> {
  const { openSession, openIdempotent, assertEmailVerified, demandSecondFactor } = deps;
  const authenticate = createAuthenticate(deps);

  return async (input, origin) => {
    const seen = await authenticate(input, origin);
    await assertEmailVerified(seen, origin);
    const first = { method: 'password', amr: ['pwd'] } as const;
    const trust = demandSecondFactor(
      seen,
      { ...first, device: input, trustedDeviceToken: input.trusted_device_token },
      origin,
    );
    // The marks ignore the password, because it was verified.
    const { email: _email, password: _password, ...rest } = input;
    // A request with the key of another device is another request.
    const body = canonicalBody(LoginRequest, rest) + (provenKey(origin) ?? '');
    const { marks } = openIdempotent({ route: 'login', caller: seen._id, key: origin.idempotencyKey, body });
    const { method, amr } = first;
    return openSession({ seen, device: input, method, auth: { amr, acr: '1' }, trust, marks }, origin);
  };
}
