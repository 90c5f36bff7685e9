import { codeLifeSeconds } from '@auth-account/contracts/http/challenges';
import type { TokenResponse } from '@auth-account/contracts/http/login';
import type { LogInByCodeRequest } from '@auth-account/contracts/http/login-code';
import type { PresentUser } from '@auth-account/stores';
import { hasSecondFactor } from '@auth-account/stores/second-factors';
import type { ClientSession } from 'mongodb';
import type { Limits } from '../../limits/limits.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import { changeByCode } from '../codes/change-by-code.ts';
import { type CheckCode, codeInvalid, type RightCode } from '../codes/check-code.ts';
import type { Spend } from '../proofs/once-per-proof.ts';
import type { NewIdentity } from './add-identity.ts';
import { areCredentialsChanged } from './assert-may-log-in.ts';
import type { DemandSecondFactor } from './demand-second-factor.ts';
import type { DeviceFields } from './device-name.ts';
import { knownAs } from './new-device.ts';
import type { OpenSession } from './open-session.ts';
import type { ProveAddress } from './prove-address.ts';
import { deviceOfProof, type OncePerChallenge } from './spend-proof.ts';

export interface OpenByCodeDeps {
  readonly openSession: OpenSession;
  readonly demandSecondFactor: DemandSecondFactor;
  readonly proveAddress: ProveAddress;
  readonly limits: Pick<Limits, 'registered' | 'verified'>;
}

export interface LogInByCodeDeps extends OpenByCodeDeps {
  readonly checkCode: CheckCode;
  readonly oncePerChallenge: OncePerChallenge;
  readonly limits: Pick<Limits, 'tryCode' | 'registered' | 'verified'>;
  readonly now: () => Date;
}

/**
 * Logs a user in by a code from the account's mailbox (docs/specification/sign-in.md, "A code by e-mail"). If a second
 * factor must follow, that step uses the code up. If the address was never verified, the login verifies it: see
 * {@link ProveAddress}.
 *
 * Raises `ERR-RATE-LIMITED`, the errors of {@link CheckCode}, {@link DemandSecondFactor} and {@link OpenSession}, and
 * `ERR-CODE-EXPIRED` if the code was used.
 */
export function createLogInByCode(deps: LogInByCodeDeps) {
  const { checkCode, oncePerChallenge, limits, now } = deps;
  const open = createOpenByCode(deps);

  return async (input: LogInByCodeRequest, origin: RequestOrigin): Promise<TokenResponse['data']> => {
    await limits.tryCode(origin);
    const id = input.challenge_id.toLowerCase();
    const proof = ['email_code', input.code, ...deviceOfProof(input.device_id, origin)];
    // No code that is open now counts for longer.
    const spend = { id, proof, until: new Date(now().getTime() + codeLifeSeconds * 1_000) };
    const check = () => checkCode('login', input, origin);
    try {
      return await oncePerChallenge(
        spend,
        () => changeByCode(check, (code) => open(code, { input, spend, purpose: 'login' }, origin)),
        origin,
      );
    } catch (error) {
      // A way in was changed since the code was compared, which makes all codes void.
      throw areCredentialsChanged(error) ? codeInvalid() : error;
    }
  };
}

/** A login by a code. */
export interface CodeLogin {
  readonly input: Pick<LogInByCodeRequest, keyof DeviceFields | 'trusted_device_token'>;
  readonly spend: Spend;
  readonly purpose: 'login' | 'identity_link';
  /** Identity that the login links to the account. */
  readonly link?: NewIdentity;
}

/** Opens a session by a right code, and returns the answer. */
export type OpenByCode = (code: RightCode, login: CodeLogin, origin: RequestOrigin) => Promise<TokenResponse['data']>;

/** Creates the login by a code that was not used yet. */
export function createOpenByCode(deps: OpenByCodeDeps): OpenByCode {
  const { openSession, demandSecondFactor, proveAddress, limits } = deps;
  return async (code, { input, spend, purpose, link }, origin) => {
    const { user } = code;
    const isFirstProof = user.email_verified_at === undefined;
    const first = { method: 'email_code', amr: ['otp'] } as const;
    const half = { ...first, first: spend, link, device: input, trustedDeviceToken: input.trusted_device_token };
    const trust = isFirstProof ? undefined : demandSecondFactor(user, half, origin);

    async function use({ _id: user_id }: PresentUser, at: Date, session: ClientSession) {
      await code.use(at, session);
      const proof = { user, device: knownAs(input), at };
      const proved = isFirstProof ? await proveAddress(proof, origin, session) : {};
      const confirmed = { event: 'code.confirmed', user_id, purpose } as const;
      return { ...proved, audit: [confirmed, ...(proved.audit ?? [])] };
    }

    const auth = { amr: first.amr, acr: '1' } as const;
    const login = {
      seen: user,
      device: input,
      method: first.method,
      auth,
      trust,
      spends: [spend],
      link,
      endsAll: isFirstProof,
      use,
    };
    const { data } = await openSession(login, origin);
    if (isFirstProof) await limits.registered(user.email, origin);
    else if (!hasSecondFactor(user)) await limits.verified(user.email, origin);
    return data;
  };
}
