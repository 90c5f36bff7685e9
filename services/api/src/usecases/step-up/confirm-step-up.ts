import type { StepUpMethod, StepUpRequest, StepUpResponse } from '@auth-account/contracts/http/step-up';
import { AppError } from '@auth-account/errors';
import type { SessionStore, UserStore } from '@auth-account/stores';
import type { SessionAuth, UserDocument } from '@auth-account/stores/documents';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { ClientSession } from 'mongodb';
import { type Commit, none } from '../../announcements/commit.ts';
import type { Audit } from '../../audit/audit.ts';
import type { Limits } from '../../limits/limits.ts';
import { missingField } from '../../request/missing-field.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import type { CheckCode } from '../codes/check-code.ts';
import type { CheckFactor, GivenFactor } from '../proofs/check-factor.ts';
import { type CheckPasswordDeps, createCheckPassword } from '../proofs/check-password.ts';
import { givenFactor } from '../proofs/given-factor.ts';
import type { IssueTokens } from '../sessions/issue-tokens.ts';
import { type StepUpSettings, stepUpMethods, stepUpRequired } from './step-up-methods.ts';
import type { StepUp, StepUpTokens } from './step-up-tokens.ts';

export interface ConfirmStepUpDeps extends CheckPasswordDeps, StepUpSettings {
  readonly users: Pick<UserStore, 'find'>;
  readonly sessions: Pick<SessionStore, 'renewAuth'>;
  readonly stepUpTokens: Pick<StepUpTokens, 'openChallenge' | 'useChallenge' | 'token'>;
  readonly checkCode: CheckCode;
  readonly checkFactor: CheckFactor;
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
  readonly user: UserDocument;
  readonly caller: VerifiedAccessToken;
  readonly origin: RequestOrigin;
}

type Proof = Omit<SessionAuth, 'at'>;

/**
 * Checks a proof that the user of the session is there, and returns a token for the operation that asks for it
 * (docs/specification/sign-in.md, "Step-up"). For the purpose `session` it renews the session's own proof instead.
 *
 * Raises `ERR-CODE-EXPIRED` if the challenge does not count now, `ERR-STEP-UP-REQUIRED` for a way that the account does
 * not have, the errors of the proof's own check, and `IAD_JWT_ACCESS_INVALID` if the account or the session is gone.
 */
export function createConfirmStepUp(deps: ConfirmStepUpDeps) {
  const { users, stepUpTokens, audit, now } = deps;
  const proofs = createProofs(deps);
  const renewSession = createRenewSession(deps);

  return async (
    input: StepUpRequest,
    caller: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<StepUpResponse['data']> => {
    const user = await users.find(caller.user_id);
    if (user === undefined) throw new AppError('IAD_JWT_ACCESS_INVALID');
    const challenge = await stepUpTokens.openChallenge(input.challenge_id, { user, caller });
    if (challenge === undefined) throw new AppError('ERR-CODE-EXPIRED');
    const { method } = input;
    if (!stepUpMethods(user, deps).includes(method)) throw stepUpRequired(user, deps);
    const proof = await proofs[method]({ input, challenge, user, caller, origin });
    const { purpose } = challenge;
    audit({ event: 'account.stepped_up', user_id: user._id, session_id: caller.sid, method }, origin);
    if (purpose === 'session') return renewSession(proof, caller);
    const { text, until } = stepUpTokens.token(challenge);
    return { step_up_token: text, expires_at: until.toISOString(), timestamp: now().toISOString() };
  };
}

/** Creates the check of each way. A check throws unless the proof is right, and uses the proof up. */
function createProofs(deps: ConfirmStepUpDeps): Readonly<Record<StepUpMethod, (stepUp: OpenStepUp) => Promise<Proof>>> {
  const { checkCode, limits, commit, now } = deps;
  const checkPassword = createCheckPassword(deps);
  const factorBy = createFactorBy(deps);
  return {
    async password({ input: { password }, user, caller, origin }) {
      if (password === undefined) throw missingField('password');
      await checkPassword(user, password, caller, origin);
      return { amr: ['pwd'], acr: '1' };
    },
    async email_code({ input: { code }, challenge, user: { _id: user_id }, origin }) {
      if (code === undefined) throw missingField('code');
      if (challenge.code === undefined) throw new AppError('ERR-CODE-EXPIRED');
      await limits.tryCode(origin);
      const right = await checkCode('step_up', { challenge_id: challenge.code, code }, origin, user_id);
      const at = now();
      await commit(
        {
          at,
          isCommitted: right.isUsed,
          ifClientLeft: 'commit',
          async work(session) {
            await right.use(at, session);
            const confirmed = { event: 'code.confirmed', user_id, purpose: 'step_up' } as const;
            return { events: none, audit: [confirmed], sessions: none };
          },
        },
        origin,
      );
      return { amr: ['otp'], acr: '1' };
    },
    totp: factorBy('totp'),
    recovery_code: factorBy('recovery_code'),
    passkey: factorBy('passkey'),
  };
}

/** Creates the check of each method of the second factor. With the session's own proof, it makes two factors. */
function createFactorBy({ checkFactor, stepUpTokens, commit, now }: ConfirmStepUpDeps) {
  return (method: GivenFactor['method']) =>
    async ({ input, challenge, user, caller, origin }: OpenStepUp): Promise<Proof> => {
      const given = givenFactor({ ...input, method });
      const factor = await checkFactor(user, given, { sessionId: caller.sid }, origin);
      const at = now();
      const change = {
        at,
        isCommitted: 'by event',
        ifClientLeft: 'commit',
        async work(session: ClientSession) {
          // A code counts once by itself, but an assertion could be sent again as long as its challenge counts.
          if (!(await stepUpTokens.useChallenge(challenge, session))) throw new AppError('ERR-CODE-EXPIRED');
          return { ...(await factor.use(at, session)), sessions: none };
        },
      } as const;
      await factor.during(() => commit(change, origin));
      return { amr: factor.amr, acr: '2' };
    };
}

/** Creates the function that renews the proof of the caller's session. */
function createRenewSession({ sessions, issueTokens, now }: ConfirmStepUpDeps) {
  return async (proof: Proof, { sid, user_id }: VerifiedAccessToken): Promise<StepUpResponse['data']> => {
    const session = await sessions.renewAuth({ sessionId: sid, userId: user_id }, { at: now(), ...proof });
    if (session === undefined) throw new AppError('IAD_JWT_ACCESS_INVALID');
    const { access_token, token_type, expires_in, timestamp } = issueTokens(session);
    return { access_token, token_type, expires_in, timestamp };
  };
}
