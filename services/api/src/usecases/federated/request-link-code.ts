import type { ChallengeResponse } from '@auth-account/contracts/http/challenges';
import type { LinkCodeRequest } from '@auth-account/contracts/http/federated';
import type { UserStore } from '@auth-account/stores';
import type { SealedTokens } from '@auth-account/tokens';
import type { Limits } from '../../limits/limits.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';
import type { RequestCode } from '../codes/request-code.ts';
import { assertCounts, linkDigest, openLinkChallenge } from './provider-challenge.ts';

export interface RequestLinkCodeDeps {
  readonly users: Pick<UserStore, 'find'>;
  readonly sealedTokens: Pick<SealedTokens, 'open'>;
  readonly requestCode: RequestCode;
  readonly limits: Pick<Limits, 'askForCode' | 'requestCode'>;
  readonly now: () => Date;
}

/**
 * Mails a code for the link of an identity to the account's email address. The code counts for that link only, and the
 * mail names its provider. Raises `ERR-RATE-LIMITED`, and `ERR-CODE-EXPIRED` if the challenge does not count now.
 */
export function createRequestLinkCode({ users, sealedTokens, requestCode, limits, now }: RequestLinkCodeDeps) {
  return async ({ link_challenge_id }: LinkCodeRequest, origin: RequestOrigin): Promise<ChallengeResponse['data']> => {
    await limits.askForCode(origin);
    const challenge = await openLinkChallenge(sealedTokens, link_challenge_id);
    const user = await users.find(challenge.userId);
    assertCounts(challenge, user, now());
    const isVerified = user.email_verified_at !== undefined;
    const order = { email: user.email, isVerified, hasAccess: false, recoveredAt: user.recovered_at };
    await limits.requestCode(order, origin);
    const link = { id: linkDigest(challenge), provider: challenge.identity.provider };
    return requestCode({ purpose: 'identity_link', userId: user._id, locale: mailLocale(user, origin), link }, origin);
  };
}
