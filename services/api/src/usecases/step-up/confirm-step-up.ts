import type { StepUpRequest, StepUpResponse } from '@auth-account/contracts/http/step-up';
import { AppError } from '@auth-account/errors';
import type { PresentUser, SessionStore, UserStore } from '@auth-account/stores';
import type { ChallengeStore } from '@auth-account/stores/challenges';
import type { SessionAuth, SessionDocument } from '@auth-account/stores/documents';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { ClientSession } from 'mongodb';
import { type Commit, none } from '../../announcements/commit.ts';
import type { Audit } from '../../audit/audit.ts';
import type { Limits } from '../../limits/limits.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import type { CheckCode } from '../codes/check-code.ts';
import { type CheckFactor, givenCode, givenFactor, type SettleTry } from '../proofs/check-factor.ts';
import { type CheckPasswordDeps, createCheckPassword } from '../proofs/check-password.ts';
import type { ChallengeUse } from '../proofs/consume-proof.ts';
import type { OncePerProof } from '../proofs/once-per-proof.ts';
import { isCodeUsed, type RightCode, type RightFactor, type UseProofDeps, useProof } from '../proofs/use-proof.ts';
import type { IssueTokens } from '../sessions/session.ts';
import {
  createFindStepUpMethods,
  type FindStepUpMethodsDeps,
  stepUpMethods,
  stepUpRequired,
  twoFactorMethods,
} from './step-up-methods.ts';
import type { StepUp, StepUpTokens } from './step-up-tokens.ts';

export interface ConfirmStepUpDeps extends CheckPasswordDeps, FindStepUpMethodsDeps, UseProofDeps {
  readonly challenges: Pick<ChallengeStore, 'use' | 'wasUsed'>;
  readonly users: Pick<UserStore, 'find'>;
  readonly sessions: Pick<SessionStore, 'find' | 'renewAuth'>;
  readonly stepUpTokens: Pick<StepUpTokens, 'openChallenge' | 'challengeUseOf' | 'use' | 'token'>;
  readonly oncePerProof: OncePerProof;
  readonly checkCode: CheckCode;
  readonly checkFactor: CheckFactor;
  readonly settleTry: SettleTry;
  readonly limits: CheckPasswordDeps['limits'] & Pick<Limits, 'tryCode'>;
  readonly commit: Commit;
  readonly issueTokens: IssueTokens;
  readonly audit: Audit;
  readonly now: () => Date;
}

/** A step-up whose challenge counts. */
interface OpenStepUp {
  readonly input: StepUpRequest;
  readonly challenge: StepUp;
  /** The use of the challenge by this proof. */
  readonly challengeUse: ChallengeUse;
  readonly user: PresentUser;
  readonly caller: VerifiedAccessToken;
  readonly origin: RequestOrigin;
}

/** A proof of the step-up that was right. */
interface ProvedStepUp extends Omit<SessionAuth, 'at'> {
  /** Missing if the proof may be given again, as a password may. */
  readonly proof?: RightCode | RightFactor;
}

/**
 * Checks a proof that the user of the session is there, and returns a token for the operation that asks for it
 * (docs/specification/sign-in.md, "Step-up"). For the purpose `session` it renews the session's own proof instead. The
 * same request gets the same token, or the session's newest values, for 60 s.
 *
 * Raises `ERR-CODE-EXPIRED` if the challenge does not count now, `ERR-STEP-UP-REQUIRED` for a method that does not
 * count, the errors of the proof's own check, and `IAD_JWT_ACCESS_INVALID` if the account or the session is gone.
 */
export function createConfirmStepUp(deps: ConfirmStepUpDeps) {
  const { users, sessions, stepUpTokens, oncePerProof, issueTokens, now } = deps;
  const findMethods = createFindStepUpMethods(deps);
  const complete = createComplete(deps);

  function answer(challenge: StepUp, session: SessionDocument | undefined): StepUpResponse['data'] {
    if (challenge.purpose !== 'session') {
      const { text, until } = stepUpTokens.token(challenge);
      return { step_up_token: text, expires_at: until.toISOString(), timestamp: now().toISOString() };
    }
    if (session === undefined || session.is_revoked) throw new AppError('IAD_JWT_ACCESS_INVALID');
    const { access_token, token_type, expires_in, timestamp } = issueTokens(session);
    return { access_token, token_type, expires_in, timestamp };
  }

  return async (
    input: StepUpRequest,
    caller: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<StepUpResponse['data']> => {
    const user = await users.find(caller.user_id);
    if (user === undefined) throw new AppError('IAD_JWT_ACCESS_INVALID');
    const challenge = await stepUpTokens.openChallenge(input.challenge_id, { user, caller });
    if (challenge === undefined) throw new AppError('ERR-CODE-EXPIRED');
    const { method, code = null, credential = null } = input;
    const challengeUse = stepUpTokens.challengeUseOf(challenge, [method, code, credential]);
    const first = async () => {
      const methods = await findMethods(user, challenge.purpose, caller);
      if (!methods.includes(method)) throw stepUpRequired(methods);
      return answer(challenge, await complete({ input, challenge, challengeUse, user, caller, origin }));
    };
    const again = async () =>
      answer(challenge, challenge.purpose === 'session' ? await sessions.find(caller.sid) : undefined);
    return oncePerProof(challengeUse, first, again);
  };
}

/** Checks a proof, and uses it up together with the challenge. Returns the session if the step-up has renewed it. */
function createComplete(deps: ConfirmStepUpDeps) {
  const { sessions, challenges, stepUpTokens, commit, settleTry, audit, now } = deps;
  const prove = createProve(deps);

  return async (stepUp: OpenStepUp): Promise<SessionDocument | undefined> => {
    const { input, challenge, challengeUse, user, caller, origin } = stepUp;
    const { proof, ...auth } = await prove(stepUp);
    const at = now();
    const renew = async (transactionSession?: ClientSession) => {
      if (challenge.purpose !== 'session') return;
      // A simultaneous step-up may have given the session two factors, which this one must not take from it.
      const strong = twoFactorMethods(stepUpMethods(user, deps));
      const sparesTwo = auth.acr === '1' && strong.length > 0;
      const own = { sessionId: caller.sid, userId: user._id, sparesTwo };
      const session = await sessions.renewAuth(own, { at, ...auth }, transactionSession);
      if (session !== undefined) return session;
      const present = sparesTwo ? await sessions.find(caller.sid) : undefined;
      throw present?.auth?.acr === '2' ? stepUpRequired(strong) : new AppError('IAD_JWT_ACCESS_INVALID');
    };
    const useUp = async (right: RightCode | RightFactor) => {
      const isCode = right.kind === 'email_code';
      const confirmed = { event: 'code.confirmed', user_id: user._id, purpose: 'step_up' } as const;
      const work = async (transactionSession: ClientSession) => {
        // An assertion could be sent again as long as its challenge counts.
        if (!(await stepUpTokens.use(challengeUse, transactionSession))) throw new AppError('ERR-CODE-EXPIRED');
        const used = await useProof(deps, right, { user, at, origin }, transactionSession);
        const records = [...(isCode ? [confirmed] : none), ...used.audit];
        return { ...used, audit: records, renewed: await renew(transactionSession), sessions: none };
      };
      const isCommitted = isCode ? () => isCodeUsed(challenges, right) : 'by event';
      const { renewed } = await commit({ at, isCommitted, ifClientLeft: 'commit', work }, origin);
      return renewed;
    };
    const done = proof === undefined ? renew() : useUp(proof);
    const renewed = await (proof?.kind === 'second_factor' ? settleTry(done, proof, user, origin) : done);
    const stepped = { event: 'account.stepped_up', user_id: user._id, session_id: caller.sid } as const;
    audit({ ...stepped, method: input.method }, origin);
    return renewed;
  };
}

/** Checks each method. It throws unless the proof is right. */
function createProve(deps: ConfirmStepUpDeps) {
  const { checkFactor } = deps;
  const checkPassword = createCheckPassword(deps);
  const proveByCode = createProveByCode(deps);

  return async (stepUp: OpenStepUp): Promise<ProvedStepUp> => {
    const { input, user, caller, origin } = stepUp;
    switch (input.method) {
      case 'password':
        await checkPassword(user, input.password, caller, origin);
        return { amr: ['pwd'], acr: '1' };
      case 'email_code':
        return proveByCode(input.code, stepUp);
      default: {
        // With the session's own proof, a second factor makes two.
        const proof = await checkFactor(user, givenFactor(input), { session: caller }, origin);
        return { amr: proof.amr, acr: '2', proof };
      }
    }
  };
}

/** Checks a code from the mailbox. */
function createProveByCode({ checkCode, limits }: ConfirmStepUpDeps) {
  return async (given: string, { challenge, user, origin }: OpenStepUp): Promise<ProvedStepUp> => {
    const code = givenCode('email_code', given);
    if (challenge.code === undefined) throw new AppError('ERR-CODE-EXPIRED');
    await limits.tryCode(origin);
    const proof = await checkCode('step_up', { challenge_id: challenge.code, code }, origin, { user_id: user._id });
    return { amr: ['otp'], acr: '1', proof };
  };
}
