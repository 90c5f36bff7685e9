import type { FederatedLinkRequest } from '@auth-account/contracts/http/federated';
import type { TokenResponse } from '@auth-account/contracts/http/login';
import type { UsedCredential } from '@auth-account/contracts/http/passkey-credentials';
import { AppError, isAppError } from '@auth-account/errors';
import type { PresentUser, UserStore } from '@auth-account/stores';
import type { SealedTokens } from '@auth-account/tokens';
import type { Audit } from '../../audit/audit.ts';
import type { Limits } from '../../limits/limits.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import { changeByCode } from '../codes/change-by-code.ts';
import { type CheckCode, codeInvalid } from '../codes/check-code.ts';
import type { AssertEmailVerified } from '../login/assert-email-verified.ts';
import { areCredentialsChanged } from '../login/assert-may-log-in.ts';
import type { Authenticate } from '../login/authenticate.ts';
import type { DemandSecondFactor } from '../login/demand-second-factor.ts';
import type { OpenByCode } from '../login/log-in-by-code.ts';
import type { OpenSession, ProvedLogin } from '../login/open-session.ts';
import { deviceOfProof, type OncePerChallenge } from '../login/spend-proof.ts';
import type { Spend } from '../proofs/once-per-proof.ts';
import type { PasskeyProof } from '../proofs/passkey-proof.ts';
import { assertCounts, type LinkChallenge, linkDigest, openLinkChallenge } from './link-challenge.ts';

export interface LinkByProofDeps {
  readonly users: Pick<UserStore, 'find'>;
  readonly sealedTokens: Pick<SealedTokens, 'open'>;
  readonly authenticate: Authenticate;
  readonly passkeyProof: PasskeyProof;
  readonly checkCode: CheckCode;
  readonly openByCode: OpenByCode;
  readonly oncePerChallenge: OncePerChallenge;
  readonly assertEmailVerified: AssertEmailVerified;
  readonly demandSecondFactor: DemandSecondFactor;
  readonly openSession: OpenSession;
  readonly limits: Pick<Limits, 'logInByProvider' | 'logInByPasskey' | 'tryCode' | 'addIdentity' | 'completed'>;
  readonly audit: Audit;
  readonly now: () => Date;
}

/** A link that somebody asks for. */
interface Asked {
  readonly input: FederatedLinkRequest;
  readonly challenge: LinkChallenge;
  /** Part of the proof that each way has: a repeat must come from the same device. */
  readonly device: readonly unknown[];
  readonly origin: RequestOrigin;
}

type Link<P> = (proof: P, asked: Asked) => Promise<TokenResponse['data']>;

/**
 * Links an identity to the account of its address, whose holder proves the account, and logs in
 * (docs/specification/sign-in.md, "Providers"). The identity is linked in the transaction that opens the session. If a
 * second factor must follow, that step does both.
 *
 * Raises the errors of {@link Authenticate}, {@link PasskeyProof}, {@link CheckCode}, {@link AssertEmailVerified},
 * {@link DemandSecondFactor} and {@link OpenSession}, `ERR-RATE-LIMITED`, and
 * `ERR-CODE-EXPIRED` if the challenge does not count now. Of the account it tells nothing before the proof.
 */
export function createLinkByProof(deps: LinkByProofDeps) {
  const byPassword = createByPassword(deps);
  const byPasskey = createByPasskey(deps);
  const byCode = createByCode(deps);
  const { sealedTokens, limits } = deps;

  return async (input: FederatedLinkRequest, origin: RequestOrigin): Promise<TokenResponse['data']> => {
    await limits.logInByProvider(origin);
    const device = deviceOfProof(input.device_id?.toLowerCase(), origin);
    const challenge = await openLinkChallenge(sealedTokens, input.link_challenge_id);
    const asked = { input, challenge, device, origin };
    if ('password' in input) return byPassword(input.password, asked);
    if ('credential' in input) return byPasskey(input.credential, asked);
    return byCode(input, asked);
  };
}

/**
 * Creates the link by password. The password is checked before the challenge, also of a repeat: so it is part of no
 * stored fingerprint, and a wrong one is always that of a login.
 */
function createByPassword(deps: LinkByProofDeps): Link<string> {
  const { authenticate, oncePerChallenge, assertEmailVerified, demandSecondFactor, limits, now } = deps;
  const open = createOpen(deps);
  return async (password, { input, challenge, device, origin }) => {
    const { email } = challenge.identity;
    const user = await authenticate({ email, password }, origin);
    const spend = spendOf(challenge, ['password', user._id, ...device]);
    const link = async () => {
      assertCounts(challenge, user, now());
      await assertEmailVerified(user, origin);
      const first = { method: 'password', amr: ['pwd'] } as const;
      demandSecondFactor(user, { ...first, first: spend, link: challenge.identity, device: input }, origin);
      // Not before: somebody who knows only the password must not use up the owner's links.
      await limits.addIdentity(user, origin);
      const proved = { seen: user, method: first.method, auth: { amr: first.amr, acr: '1' } } as const;
      return open({ ...proved, device: input, spends: [spend], link: challenge.identity }, origin);
    };
    return oncePerChallenge(spend, link, origin);
  };
}

/** Creates the link by passkey, which is two factors. */
function createByPasskey(deps: LinkByProofDeps): Link<UsedCredential> {
  const { users, passkeyProof, oncePerChallenge, assertEmailVerified, limits, audit, now } = deps;
  const open = createOpen(deps);
  const rules = { requireUv: true, requireHandle: true };

  async function prove(user: PresentUser, credential: UsedCredential, { input, origin }: Asked) {
    const signed = { challengeId: input.link_challenge_id, credential };
    try {
      return await passkeyProof(user, signed, rules, origin);
    } catch (error) {
      if (isAppError(error)) audit({ event: 'login.failed', user_id: user._id, reason: 'wrong_passkey' }, origin);
      throw error;
    }
  }

  return async (credential, asked) => {
    const { input, challenge, device, origin } = asked;
    await limits.logInByPasskey(origin);
    const spend = spendOf(challenge, ['passkey', credential.id, credential.response, ...device]);
    const link = async () => {
      const user = await users.find(challenge.userId);
      if (user === undefined) throw new AppError('ERR-CODE-EXPIRED');
      const { auth, use } = await prove(user, credential, asked);
      assertCounts(challenge, user, now());
      await assertEmailVerified(user, origin);
      await limits.addIdentity(user, origin);
      const proved = { seen: user, device: input, method: 'passkey', auth, use } as const;
      const data = await open({ ...proved, spends: [spend], link: challenge.identity }, origin);
      await limits.completed(user.email, origin);
      return data;
    };
    return oncePerChallenge(spend, link, origin);
  };
}

/**
 * Creates the link by a code from the account's mailbox. As a login by code does, it takes the account back from somebody
 * else who has registered it, before the identity is linked.
 */
function createByCode(deps: LinkByProofDeps): Link<{ readonly challenge_id: string; readonly code: string }> {
  const { users, checkCode, openByCode, oncePerChallenge, limits, now } = deps;
  return async (given, { input, challenge, device, origin }) => {
    await limits.tryCode(origin);
    const spend = spendOf(challenge, ['email_code', given.challenge_id.toLowerCase(), given.code, ...device]);
    const of = { user_id: challenge.userId, link: linkDigest(challenge) };
    const link = async () => {
      assertCounts(challenge, await users.find(challenge.userId), now());
      const check = () => checkCode('identity_link', given, origin, of);
      const login = { input, spend, purpose: 'identity_link', link: challenge.identity } as const;
      return changeByCode(check, async (code) => {
        // Somebody else may have used up the links of an account whose address was never proved.
        if (code.user.email_verified_at !== undefined) await limits.addIdentity(code.user, origin);
        return openByCode(code, login, origin);
      });
    };
    return oncePerChallenge(spend, link, origin).catch((error: unknown) => {
      throw areCredentialsChanged(error) ? codeInvalid() : error;
    });
  };
}

/** Creates the end of a link: the session. Raises `ERR-CODE-EXPIRED` if a way in was changed since the proof. */
function createOpen({ openSession }: LinkByProofDeps) {
  return async (login: ProvedLogin, origin: RequestOrigin): Promise<TokenResponse['data']> => {
    try {
      return (await openSession(login, origin)).data;
    } catch (error) {
      throw areCredentialsChanged(error) ? new AppError('ERR-CODE-EXPIRED') : error;
    }
  };
}

function spendOf({ id, until, identity: { provider, sub } }: LinkChallenge, proof: readonly unknown[]): Spend {
  return { id, until, proof: ['link', provider, sub, ...proof] };
}
