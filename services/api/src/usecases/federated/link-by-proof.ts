import type { FederatedLinkRequest } from '@auth-account/contracts/http/federated';
import type { TokenResponse } from '@auth-account/contracts/http/login';
import type { UsedCredential } from '@auth-account/contracts/http/passkey-credentials';
import { AppError, isAppError } from '@auth-account/errors';
import type { PresentUser, UserStore } from '@auth-account/stores';
import type { SealedTokens } from '@auth-account/tokens';
import type { Audit } from '../../audit/audit.ts';
import type { Limits } from '../../limits/limits.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import { type CheckCode, changeByCode } from '../codes/check-code.ts';
import type { CompleteLogin } from '../login/complete-login.ts';
import type { Authenticate } from '../proofs/check-password.ts';
import type { ChallengeUse } from '../proofs/consume-proof.ts';
import { deviceOfProof, type OncePerChallenge } from '../proofs/once-per-proof.ts';
import type { PasskeyProof } from '../proofs/passkey-proof.ts';
import { codeInvalid, type RightPasskey } from '../proofs/use-proof.ts';
import { assertCounts, type LinkChallenge, linkDigest, openLinkChallenge } from './provider-challenge.ts';

export interface LinkByProofDeps {
  readonly users: Pick<UserStore, 'find'>;
  readonly sealedTokens: Pick<SealedTokens, 'open'>;
  readonly authenticate: Authenticate;
  readonly passkeyProof: PasskeyProof;
  readonly checkCode: CheckCode;
  readonly oncePerChallenge: OncePerChallenge;
  readonly completeLogin: CompleteLogin;
  readonly limits: Pick<Limits, 'logInByProvider' | 'logInByPasskey' | 'tryCode'>;
  readonly audit: Audit;
  readonly now: () => Date;
}

/** A link that somebody asks for. */
interface PendingRequest {
  readonly input: FederatedLinkRequest;
  readonly challenge: LinkChallenge;
  readonly origin: RequestOrigin;
}

type Link<P> = (proof: P, asked: PendingRequest) => Promise<TokenResponse['data']>;

/**
 * Links an identity to the account of its email address, whose holder proves the account, and logs in
 * (docs/specification/sign-in.md, "Providers"). The identity is linked in the transaction that opens the session. If a
 * second factor must follow, that step does both.
 *
 * Raises the errors of {@link Authenticate}, {@link PasskeyProof}, {@link CheckCode} and {@link CompleteLogin},
 * `ERR-RATE-LIMITED`, and `ERR-CODE-EXPIRED` if the challenge does not count now. It shows nothing of the account
 * before the proof.
 */
export function createLinkByProof(deps: LinkByProofDeps) {
  const byPassword = createByPassword(deps);
  const byPasskey = createByPasskey(deps);
  const byCode = createByCode(deps);
  const { sealedTokens, limits } = deps;

  return async (input: FederatedLinkRequest, origin: RequestOrigin): Promise<TokenResponse['data']> => {
    await limits.logInByProvider(origin);
    const challenge = await openLinkChallenge(sealedTokens, input.link_challenge_id);
    const asked = { input, challenge, origin };
    if ('password' in input) return byPassword(input.password, asked);
    if ('credential' in input) return byPasskey(input.credential, asked);
    return byCode(input, asked);
  };
}

/**
 * Links by password. The password is checked before the challenge, also of a repeat: so it is part of no stored
 * fingerprint, and a wrong one is always that of a login.
 */
function createByPassword({ authenticate, oncePerChallenge, completeLogin, now }: LinkByProofDeps): Link<string> {
  return async (password, asked) => {
    const { challenge, origin } = asked;
    const seen = await authenticate({ email: challenge.identity.email, password }, origin);
    const { challengeUse, ...linking } = linkingBy(['password', seen._id], asked);
    const link = async () => {
      assertCounts(challenge, seen, now());
      const proved = { seen, method: 'password', auth: { amr: ['pwd'], acr: '1' } } as const;
      const { data } = await completeLogin({ ...linking, ...proved, ifChanged: challengeOver }, origin);
      return data;
    };
    return oncePerChallenge(challengeUse, link, origin);
  };
}

/** Links by passkey, which is two factors. */
function createByPasskey(deps: LinkByProofDeps): Link<UsedCredential> {
  const { users, passkeyProof, oncePerChallenge, completeLogin, limits, audit, now } = deps;
  const rules = { requireUv: true, requireHandle: true };

  async function prove(
    user: PresentUser,
    credential: UsedCredential,
    { input, origin }: PendingRequest,
  ): Promise<RightPasskey> {
    const signed = { challengeId: input.link_challenge_id, credential };
    try {
      return await passkeyProof(user, signed, rules, origin);
    } catch (error) {
      if (isAppError(error)) audit({ event: 'login.failed', user_id: user._id, reason: 'wrong_passkey' }, origin);
      throw error;
    }
  }

  return async (credential, asked) => {
    const { challenge, origin } = asked;
    await limits.logInByPasskey(origin);
    const { challengeUse, ...linking } = linkingBy(['passkey', credential.id, credential.response], asked);
    const link = async () => {
      const seen = await users.find(challenge.userId);
      if (seen === undefined) throw challengeOver();
      const proof = await prove(seen, credential, asked);
      assertCounts(challenge, seen, now());
      const proved = { seen, method: 'passkey', auth: proof.auth, proof } as const;
      const { data } = await completeLogin({ ...linking, ...proved, ifChanged: challengeOver }, origin);
      return data;
    };
    return oncePerChallenge(challengeUse, link, origin);
  };
}

/**
 * Links by a code from the account's mailbox. As a login by code does, it takes the account back from somebody else who
 * has registered it, before the identity is linked.
 */
function createByCode(deps: LinkByProofDeps): Link<{ readonly challenge_id: string; readonly code: string }> {
  const { users, checkCode, oncePerChallenge, completeLogin, limits, now } = deps;
  return async (given, asked) => {
    const { challenge, origin } = asked;
    await limits.tryCode(origin);
    const { challengeUse, ...linking } = linkingBy(['email_code', given.challenge_id.toLowerCase(), given.code], asked);
    const of = { user_id: challenge.userId, link: linkDigest(challenge) };
    const check = () => checkCode('identity_link', given, origin, of);
    const link = async () => {
      assertCounts(challenge, await users.find(challenge.userId), now());
      const { data } = await changeByCode(check, (proof) => {
        const proved = { seen: proof.user, method: 'email_code', auth: { amr: ['otp'], acr: '1' }, proof } as const;
        return completeLogin({ ...linking, ...proved, ifChanged: codeInvalid }, origin);
      });
      return data;
    };
    return oncePerChallenge(challengeUse, link, origin);
  };
}

/** Returns what the logins of all links have. A repeat must have the same proof, and come from the same device. */
function linkingBy(proof: readonly unknown[], { input, challenge, origin }: PendingRequest) {
  const { id, until, identity } = challenge;
  const device = deviceOfProof(input.device_id, origin);
  const challengeUse: ChallengeUse = {
    id,
    until,
    proof: ['link', identity.provider, identity.sub, ...proof, ...device],
  };
  return { challengeUse, device: input, challengeUses: [challengeUse], link: identity };
}

function challengeOver(): AppError {
  return new AppError('ERR-CODE-EXPIRED');
}
