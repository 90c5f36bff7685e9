import { randomUUID } from 'node:crypto';
import { type StepUpPurpose, stepUpChallengeSeconds, stepUpSeconds } from '@auth-account/contracts/http/step-up';
import type { PresentUser } from '@auth-account/stores';
import type { ConsumedProofStore } from '@auth-account/stores/consumed-proofs';
import { credentialsVersion } from '@auth-account/stores/credentials';
import type { SealedTokens } from '@auth-account/tokens';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { ClientSession } from 'mongodb';
import type { ServerSecrets } from '../../security/server-secrets.ts';
import { type ChallengeUse, consumedBy } from '../proofs/consume-proof.ts';

/** Content of a challenge, and of the token that its proof gives. Both have the same id, so each counts once. */
export interface StepUp {
  readonly id: string;
  readonly user: string;
  readonly session: string;
  readonly version: string;
  readonly purpose: StepUpPurpose;
  /** Milliseconds since the epoch. */
  readonly until: number;
  /** End of the last token of this id, which a proof that is sent again can give. Milliseconds since the epoch. */
  readonly latest: number;
  /** `challenge_id` of the mailed code, if one was sent. */
  readonly code?: string;
}

/** The session and account for which a challenge or token must have been made. */
export interface StepUpScope {
  readonly user: PresentUser;
  readonly caller: Pick<VerifiedAccessToken, 'sid'>;
  /** Undefined if any purpose counts. */
  readonly purpose?: StepUpPurpose;
}

export interface StepUpTokens {
  /** Returns a challenge. `code` is the `challenge_id` of a mailed code. */
  challenge(scope: Required<StepUpScope>, code: string | undefined): { readonly text: string; readonly until: Date };
  /** Returns the challenge if it counts now. */
  openChallenge(text: string, scope: StepUpScope): Promise<StepUp | undefined>;
  /** Returns the use of the challenge by that proof. */
  challengeUseOf(challenge: StepUp, proof: readonly unknown[]): ChallengeUse;
  /** Returns the token of a challenge whose proof was right. */
  token(challenge: StepUp): { readonly text: string; readonly until: Date };
  /**
   * Returns the use of the token if it counts now: it has not expired, is this session's and for this purpose, and no
   * sign-in method was changed since. It may have been used.
   */
  openToken(text: string, scope: Required<StepUpScope>): Promise<ChallengeUse | undefined>;
  /** Returns true if the challenge or token was used. */
  isUsed(challengeUse: ChallengeUse): Promise<boolean>;
  /** Uses a challenge or a token up; false if it was used before. The caller of a transaction must then throw. */
  use(challengeUse: ChallengeUse, transactionSession?: ClientSession): Promise<boolean>;
}

export interface StepUpTokensDeps {
  readonly sealedTokens: SealedTokens;
  readonly consumedProofs: Pick<ConsumedProofStore, 'find' | 'consume'>;
  readonly secrets: ServerSecrets;
  readonly now: () => Date;
}

/** Returns the use of a token. Tokens of one challenge are one token. */
function challengeUseOfToken({ id, latest }: StepUp): ChallengeUse {
  return { id: `step-up-token:${id}`, proof: [], until: new Date(latest) };
}

/** Creates the challenges and tokens of step-ups (docs/specification/sign-in.md, "Step-up"). */
export function createStepUpTokens({ sealedTokens, consumedProofs, secrets, now }: StepUpTokensDeps): StepUpTokens {
  const later = (seconds: number) => new Date(now().getTime() + seconds * 1_000);

  async function open(label: 'step-up' | 'step-up-token', text: string, { user, caller, purpose }: StepUpScope) {
    const opened = (await sealedTokens.open(label, text)) as StepUp | undefined;
    if (opened === undefined || opened.until <= now().getTime()) return;
    const isOwn = opened.user === user._id && opened.session === caller.sid;
    const isFor = purpose === undefined || opened.purpose === purpose;
    return isOwn && isFor && opened.version === credentialsVersion(user) ? opened : undefined;
  }

  return {
    challenge({ user, caller, purpose }, code) {
      const until = later(stepUpChallengeSeconds);
      const version = credentialsVersion(user);
      const latest = until.getTime() + stepUpSeconds * 1_000;
      const own = { id: randomUUID(), user: user._id, session: caller.sid, version, purpose, latest };
      const content: StepUp = { ...own, until: until.getTime(), ...(code && { code }) };
      return { text: sealedTokens.seal('step-up', content), until };
    },
    openChallenge: (text, scope) => open('step-up', text, scope),
    token({ code: _code, ...challenge }) {
      const until = later(stepUpSeconds);
      return { text: sealedTokens.seal('step-up-token', { ...challenge, until: until.getTime() }), until };
    },
    challengeUseOf: ({ id, until }, proof) => ({ id: `step-up:${id}`, proof, until: new Date(until) }),
    async openToken(text, scope) {
      const opened = await open('step-up-token', text, scope);
      return opened && challengeUseOfToken(opened);
    },
    isUsed: async (challengeUse) => (await consumedProofs.find(consumedBy(challengeUse, secrets())._id)) !== undefined,
    use: (challengeUse, session) =>
      consumedProofs.consume({ ...consumedBy(challengeUse, secrets()), at: now() }, session),
  };
}
