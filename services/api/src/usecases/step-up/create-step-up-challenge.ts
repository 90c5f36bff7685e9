import type { StepUpChallengeRequest, StepUpChallengeResponse } from '@auth-account/contracts/http/step-up';
import { AppError } from '@auth-account/errors';
import type { PresentUser, UserStore } from '@auth-account/stores';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { Limits } from '../../limits/limits.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';
import { requestOptions } from '../../security/passkeys/passkey-verifier.ts';
import type { RequestCode } from '../codes/request-code.ts';
import { createFindStepUpMethods, type FindStepUpMethodsDeps } from './step-up-methods.ts';
import type { StepUpTokens } from './step-up-tokens.ts';

export interface CreateStepUpChallengeDeps extends FindStepUpMethodsDeps {
  readonly users: Pick<UserStore, 'find'>;
  readonly limits: Pick<Limits, 'write' | 'askForCode' | 'requestCode'>;
  readonly requestCode: RequestCode;
  readonly stepUpTokens: Pick<StepUpTokens, 'challenge'>;
  readonly now: () => Date;
}

/**
 * Returns how the user of a session can prove once more who is there. An account without any other method is mailed a
 * code. Raises `ERR-RATE-LIMITED`, and `IAD_JWT_ACCESS_INVALID` if the account is gone.
 */
export function createIssueStepUpChallenge(deps: CreateStepUpChallengeDeps) {
  const { users, limits, requestCode, stepUpTokens, rpId, now } = deps;
  const findMethods = createFindStepUpMethods(deps);

  async function mailCode(user: PresentUser, origin: RequestOrigin): Promise<string> {
    await limits.askForCode(origin);
    const isVerified = user.email_verified_at !== undefined;
    const order = { email: user.email, isVerified, hasAccess: true, recoveredAt: user.recovered_at };
    await limits.requestCode(order, origin);
    const request = { purpose: 'step_up', userId: user._id, locale: mailLocale(user, origin) } as const;
    return (await requestCode(request, origin)).challenge_id;
  }

  return async (
    { purpose }: StepUpChallengeRequest,
    caller: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<StepUpChallengeResponse['data']> => {
    await limits.write(caller.sid, origin);
    const user = await users.find(caller.user_id);
    if (user === undefined) throw new AppError('IAD_JWT_ACCESS_INVALID');
    const methods = await findMethods(user, purpose, caller);
    const code = methods.includes('email_code') ? await mailCode(user, origin) : undefined;
    const { text, until } = stepUpTokens.challenge({ user, caller, purpose }, code);
    const expires_at = until.toISOString();
    const byPasskey = rpId !== undefined && methods.includes('passkey');
    return {
      challenge_id: text,
      methods: [...methods],
      ...(byPasskey && { passkey_options: requestOptions(rpId, text, user.passkeys) }),
      expires_at,
      timestamp: now().toISOString(),
    };
  };
}
