import type { ConfirmSecondFactorRequest, SecondFactorResponse } from '@auth-account/contracts/http/second-factor';
import { AppError } from '@auth-account/errors';
import type { PresentUser, UserStore } from '@auth-account/stores';
import { credentialsVersion, nextChangeOfWays } from '@auth-account/stores/credentials';
import { hasSecondFactor, type SecondFactorStore } from '@auth-account/stores/second-factors';
import type { SealedTokens } from '@auth-account/tokens';
import type { ClientSession } from 'mongodb';
import { none } from '../../announcements/commit.ts';
import type { Limits } from '../../limits/limits.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import { areCredentialsChanged } from '../login/assert-may-log-in.ts';
import { trustTokenHash } from '../login/demand-second-factor.ts';
import type { OpenSession } from '../login/open-session.ts';
import { openChallenge, type SecondFactorChallenge } from '../login/second-factor-challenge.ts';
import type { OncePerChallenge } from '../login/spend-proof.ts';
import type { CheckFactor, GivenFactor } from '../proofs/check-factor.ts';
import { givenFactor } from '../proofs/given-factor.ts';
import type { Spend } from '../proofs/once-per-proof.ts';

export interface ConfirmSecondFactorDeps {
  readonly users: Pick<UserStore, 'find'>;
  readonly secondFactors: Pick<SecondFactorStore, 'trust'>;
  readonly sealedTokens: Pick<SealedTokens, 'open'>;
  readonly checkFactor: CheckFactor;
  readonly oncePerChallenge: OncePerChallenge;
  readonly openSession: OpenSession;
  readonly limits: Pick<Limits, 'tryCode' | 'addIdentity' | 'completed'>;
  readonly now: () => Date;
}

/** Milliseconds for which a device is trusted. */
const trustMs = 30 * 86_400_000;

/**
 * Completes a login with the second factor (docs/specification/sign-in.md, "Second factor"). The factor and the
 * challenge are used up in the transaction that opens the session. The same request gets the same session again for 60 s.
 * The account then knows the device and the network.
 *
 * Raises `ERR-CODE-EXPIRED` for a challenge that is over or unknown, and the errors of {@link CheckFactor} and
 * {@link OpenSession}.
 */
export function createConfirmSecondFactor(deps: ConfirmSecondFactorDeps) {
  const { sealedTokens, oncePerChallenge, limits } = deps;
  const complete = createComplete(deps);

  return async (input: ConfirmSecondFactorRequest, origin: RequestOrigin): Promise<SecondFactorResponse['data']> => {
    const { challenge_id, method, trust_device = false } = input;
    await limits.tryCode(origin);
    const given = givenFactor(input);
    const challenge = await openChallenge(sealedTokens, challenge_id);
    if (challenge === undefined) throw new AppError('ERR-CODE-EXPIRED');
    const proof = [method, input.code, input.credential, challenge.deviceId, trust_device];
    const spend = { id: challenge.id, proof, until: challenge.expiresAt };
    const open = () => complete({ challenge, given, isTrusted: trust_device, spend }, origin);
    const data = await oncePerChallenge(spend, open, origin);
    return trust_device ? { ...data, trusted_device_token: challenge.trustToken } : data;
  };
}

interface Confirmation {
  readonly challenge: SecondFactorChallenge;
  readonly given: GivenFactor;
  /** True if the device is to be trusted. */
  readonly isTrusted: boolean;
  readonly spend: Spend;
}

/** Creates the confirmation of a challenge that was not used yet. */
function createComplete(deps: ConfirmSecondFactorDeps) {
  const { secondFactors, checkFactor, openSession, limits } = deps;
  const findUser = createFindUser(deps);

  return async ({ challenge, given, isTrusted, spend }: Confirmation, origin: RequestOrigin) => {
    const { method, amr, first, identityId, link, device, deviceId, jkt } = challenge;
    const user = await findUser(challenge);
    const factor = await checkFactor(user, given, { jkt }, origin);
    const purpose = link === undefined ? 'login' : 'identity_link';
    const code = { event: 'code.confirmed', user_id: user._id, purpose } as const;
    const confirmed = method === 'email_code' ? [code] : none;
    const use = async (seen: PresentUser, at: Date, session: ClientSession) => {
      const used = await factor.use(at, session);
      const token = trustTokenHash(challenge.trustToken);
      const times = { trusted_at: at, until: later(at, trustMs) };
      const version = versionAfter(seen, challenge, at);
      const begun = { ...(jkt && { jkt }), ...(identityId && { identity_id: identityId }) };
      const trusted = { device_id: deviceId, token, ...begun, version, ...times };
      if (isTrusted) await secondFactors.trust(user._id, trusted, session);
      return { ...used, audit: [...confirmed, ...used.audit] };
    };
    const spends = first === undefined ? [spend] : [spend, { ...first, proof: ['second-factor', challenge.id] }];
    const auth = { amr: [...new Set([...amr, ...factor.amr])], acr: '2' } as const;
    const trust = isTrusted ? ('made' as const) : undefined;
    try {
      const login = { seen: user, device, deviceId, method, auth, trust, identityId, jkt, spends, link, use };
      const { data } = await factor.during(async () => {
        if (link !== undefined) await limits.addIdentity(user, origin);
        return openSession(login, origin);
      });
      await limits.completed(user.email, origin, jkt, amr.includes('pwd'));
      return data;
    } catch (error) {
      // A way in has been changed since the challenge was checked.
      throw areCredentialsChanged(error) ? new AppError('ERR-CODE-EXPIRED') : error;
    }
  };
}

/** Returns the account's version after the login. A linked identity ends the trust in all devices but this one. */
function versionAfter(seen: PresentUser, { link }: SecondFactorChallenge, at: Date): string {
  return credentialsVersion(link === undefined ? seen : { ...seen, ways_changed_at: nextChangeOfWays(seen, at) });
}

const later = (at: Date, ms: number) => new Date(at.getTime() + ms);

/** Creates the function that returns the challenge's account, as long as the challenge counts. */
function createFindUser({ users, now }: ConfirmSecondFactorDeps) {
  return async ({ userId, version, identityId, expiresAt }: SecondFactorChallenge): Promise<PresentUser> => {
    const user = expiresAt > now() ? await users.find(userId) : undefined;
    if (user === undefined || credentialsVersion(user, identityId) !== version || !hasSecondFactor(user)) {
      throw new AppError('ERR-CODE-EXPIRED');
    }
    return user;
  };
}
