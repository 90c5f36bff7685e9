import type { ConfirmSecondFactorRequest, SecondFactorResponse } from '@auth-account/contracts/http/second-factor';
import { AppError } from '@auth-account/errors';
import type { PresentUser, UserStore } from '@auth-account/stores';
import { credentialsVersion } from '@auth-account/stores/credentials';
import { hasSecondFactor } from '@auth-account/stores/second-factors';
import type { SealedTokens } from '@auth-account/tokens';
import type { Limits } from '../../limits/limits.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import type { CompleteLogin } from '../login/complete-login.ts';
import { openChallenge, type SecondFactorChallenge } from '../login/demand-second-factor.ts';
import { type CheckFactor, type GivenFactor, givenFactor, type SettleTry } from '../proofs/check-factor.ts';
import type { ChallengeUse } from '../proofs/consume-proof.ts';
import type { OncePerChallenge } from '../proofs/once-per-proof.ts';

export interface ConfirmSecondFactorDeps {
  readonly users: Pick<UserStore, 'find'>;
  readonly sealedTokens: Pick<SealedTokens, 'open'>;
  readonly checkFactor: CheckFactor;
  readonly oncePerChallenge: OncePerChallenge;
  readonly settleTry: SettleTry;
  readonly completeLogin: CompleteLogin;
  readonly limits: Pick<Limits, 'tryCode'>;
  readonly now: () => Date;
}

/**
 * Completes a login with the second factor (docs/specification/sign-in.md, "Second factor"). The factor and the
 * challenge are used up in the transaction that opens the session. The same request gets the same session again for 60 s.
 * The account then knows the device and the network.
 *
 * Raises `ERR-CODE-EXPIRED` for a challenge that is over or unknown, and the errors of {@link CheckFactor} and
 * {@link CompleteLogin}.
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
    const challengeUse = { id: challenge.id, proof, until: challenge.expiresAt };
    const open = () => complete({ challenge, given, isTrusted: trust_device, challengeUse }, origin);
    const data = await oncePerChallenge(challengeUse, open, origin);
    return trust_device ? { ...data, trusted_device_token: challenge.trustToken } : data;
  };
}

interface Confirmation {
  readonly challenge: SecondFactorChallenge;
  readonly given: GivenFactor;
  /** True if the device is to be trusted. */
  readonly isTrusted: boolean;
  readonly challengeUse: ChallengeUse;
}

/** Confirms a challenge that was not used yet. */
function createComplete(deps: ConfirmSecondFactorDeps) {
  const { checkFactor, settleTry, completeLogin } = deps;
  const findUser = createFindUser(deps);

  return async ({ challenge, given, isTrusted, challengeUse }: Confirmation, origin: RequestOrigin) => {
    const { method, amr, first, identityId, link, device, deviceId, jkt, trustToken } = challenge;
    const seen = await findUser(challenge);
    const factor = await checkFactor(seen, given, { jkt }, origin);
    const login = completeLogin(
      {
        ...{ seen, device, deviceId, method, identityId, link, jkt, proof: factor },
        auth: { amr: [...new Set([...amr, ...factor.amr])], acr: '2' },
        trust: isTrusted ? { token: trustToken } : undefined,
        challengeUses:
          first === undefined ? [challengeUse] : [challengeUse, { ...first, proof: ['second-factor', challenge.id] }],
        ifChanged: () => new AppError('ERR-CODE-EXPIRED'),
      },
      origin,
    );
    const { data } = await settleTry(login, factor, seen, origin);
    return data;
  };
}

/** Returns the challenge's account, as long as the challenge counts. */
function createFindUser({ users, now }: ConfirmSecondFactorDeps) {
  return async ({ userId, version, identityId, expiresAt }: SecondFactorChallenge): Promise<PresentUser> => {
    const user = expiresAt > now() ? await users.find(userId) : undefined;
    if (user === undefined || credentialsVersion(user, identityId) !== version || !hasSecondFactor(user)) {
      throw new AppError('ERR-CODE-EXPIRED');
    }
    return user;
  };
}
