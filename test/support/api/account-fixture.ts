import type { CodePurpose } from '@auth-account/contracts/events';
import { codeEmail } from '@auth-account/stores/challenges';
import type { ChallengeDocument, OutboxDocument, UserDocument } from '@auth-account/stores/documents';
import { createEmailCodes, generateSecretKey } from '@auth-account/tokens';
import type { KeySource } from '@auth-account/verifier/access-token';
import type { Limits } from '../../../services/api/src/limits/limits.ts';
import { createIds } from '../../../services/api/src/request/ids.ts';
import type { PasswordHasher } from '../../../services/api/src/security/password-hasher.ts';
import { createCheckCode } from '../../../services/api/src/usecases/codes/check-code.ts';
import { createRequestCode } from '../../../services/api/src/usecases/codes/request-code.ts';
import { createEndSessions } from '../../../services/api/src/usecases/sessions/end-sessions.ts';
import { createReauthenticate } from '../../../services/api/src/usecases/step-up/reauthenticate.ts';
import { storesOf } from '../stores/stores-of.ts';
import { newChallengeDocument } from './challenge-document.ts';
import { openUseCaseFixture, recordedAttempt } from './use-case-fixture.ts';

/** The fixture of the use cases of sessions, with codes, limits and events. */
export type AccountFixture = Awaited<ReturnType<typeof openAccountFixture>>;

/** Dependencies of the use cases of an account's life. */
export type AccountDeps = AccountFixture['deps'];

/** Body with which the holder of the mailbox confirms the challenge. */
export interface RequestedCode {
  readonly challenge_id: string;
  readonly code: string;
}

/** Hashing is not under test here, so a hash is the password behind a prefix. */
export const passwordHashOf = (password: string) => `hash of: ${password}`;

const hasher: PasswordHasher = {
  admit: (_client, use) =>
    use({
      hash: async (text) => passwordHashOf(text),
      verify: async (stored, text) => stored === passwordHashOf(text) || stored === `weak ${passwordHashOf(text)}`,
    }),
  unusableHash: () => 'void',
  isWeak: (stored) => stored.startsWith('weak'),
};

/** Creates limits that allow everything, and record each call in `limitCalls`. */
function recordingLimits(limitCalls: unknown[]) {
  const guess = async (email: string) => {
    limitCalls.push(email);
    return recordedAttempt(limitCalls);
  };
  return {
    guess,
    logIn: guess,
    askForCode: async () => void limitCalls.push('code'),
    requestCode: async (order) => void limitCalls.push(order),
    tryCode: async () => void limitCalls.push('try'),
    registered: async (email) => void limitCalls.push(['registered', email]),
    moved: async ({ from, to }, { sid }) => void limitCalls.push(['moved', from, to, sid]),
    proved: async (email) => void limitCalls.push(['proved', email]),
    verified: async (email) => void limitCalls.push(['verified', email]),
    orderDeletion: async ({ email }) => void limitCalls.push(['deletion', email]),
  } satisfies Partial<Limits>;
}

export async function openAccountFixture() {
  const fixture = await openUseCaseFixture();
  const { collections, now } = fixture;
  // Creating a collection in a transaction takes a lock, and other transactions would wait for it.
  for (const name of ['challenges', 'outbox', 'invites', 'groups'] as const) {
    await fixture.mongo.db(collections[name].dbName).createCollection(collections[name].collectionName);
  }
  const stores = storesOf(collections, now);
  const limitCalls: unknown[] = [];
  const set = { keys: [generateSecretKey()] } as const;
  let source: KeySource = { current: () => set, reread: async () => undefined };
  const keys = {
    current: () => source.current(),
    reread: () => source.reread(),
    use(other: KeySource) {
      source = other;
    },
  };
  const codes = createEmailCodes(keys);
  const limits = recordingLimits(limitCalls);
  const warnOfGuesses = async () => undefined;
  const base = { ...stores, ...fixture, codes, limits, warnOfGuesses, hasher, ids: createIds(Date.now) };
  const deps = {
    ...base,
    requestCode: createRequestCode(base),
    checkCode: createCheckCode(base),
    endSessions: createEndSessions(base),
    reauthenticate: createReauthenticate({
      ...base,
      rpId: undefined,
      stepUpTokens: { openToken: async () => undefined, isUsed: async () => false, use: async () => false },
    }),
  };
  return {
    ...fixture,
    deps,
    /** The keys of codes. */
    keys,
    /** Calls to the limits, in order. */
    limitCalls,
    /** Stores an open challenge of the user, and returns it with its code. */
    async challenge(
      user: UserDocument,
      purpose: CodePurpose,
      fields: Partial<ChallengeDocument> = {},
    ): Promise<RequestedCode> {
      const parts = { purpose, user_id: user._id, kid: codes.currentKid, ...fields };
      // Its mail was sent a minute ago.
      const challenge = newChallengeDocument(new Date(now().getTime() - 60_000), parts);
      await collections.challenges.insertOne(challenge);
      const { _id: challengeId, kid, user_id: userId } = challenge;
      const emailKey = codeEmail(user, purpose)?.emailKey ?? 'nobody';
      return { challenge_id: challengeId, code: codes.codeOf({ kid, challengeId, purpose, userId, emailKey }) };
    },
    storedUser: (_id: string) => collections.users.findOne({ _id }),
    storedChallenge: (_id: string) => collections.challenges.findOne({ _id }),
    /** Returns the rows of the outbox, in the order of their writing. */
    rows: (): Promise<OutboxDocument[]> => collections.outbox.find().sort({ _id: 1 }).toArray(),
    async clear() {
      limitCalls.splice(0);
      source = { current: () => set, reread: async () => undefined };
      await Promise.all([fixture.clear(), collections.challenges.deleteMany(), collections.invites.deleteMany()]);
    },
  };
}
