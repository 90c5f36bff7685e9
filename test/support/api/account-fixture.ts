import { randomUUID } from 'node:crypto';
import type { CodePurpose } from '@auth-account/contracts/events';
import type { Stores } from '@auth-account/stores';
import { codeEmail } from '@auth-account/stores/challenges';
import type { ChallengeDocument, OutboxDocument, UserDocument } from '@auth-account/stores/documents';
import { createEmailCodes, generateSecretKey } from '@auth-account/tokens';
import type { KeySource } from '@auth-account/verifier/access-token';
import type { Limits } from '../../../services/api/src/limits/limits.ts';
import { createIds, type Ids } from '../../../services/api/src/request/ids.ts';
import type { PasswordHasher } from '../../../services/api/src/security/password-hasher.ts';
import { type CheckCode, createCheckCode } from '../../../services/api/src/usecases/codes/check-code.ts';
import { createRequestCode, type RequestCode } from '../../../services/api/src/usecases/codes/request-code.ts';
import type { WarnOfGuesses } from '../../../services/api/src/usecases/proofs/warn-of-guesses.ts';
import { createEndSessions, type EndSessions } from '../../../services/api/src/usecases/sessions/end-sessions.ts';
import {
  createReauthenticate,
  type Reauthenticate,
} from '../../../services/api/src/usecases/step-up/reauthenticate.ts';
import { storesOf } from '../stores/stores-of.ts';
import { openUseCaseFixture, recordedAttempt, type UseCaseFixture } from './use-case-fixture.ts';

/** Dependencies of the use cases of an account's life. */
export interface AccountDeps extends Omit<Stores, 'users' | 'sessions'>, Pick<UseCaseFixture, ShownParts> {
  readonly codes: ReturnType<typeof createEmailCodes>;
  readonly warnOfGuesses: WarnOfGuesses;
  readonly limits: Pick<
    Limits,
    | 'tryCode'
    | 'askForCode'
    | 'requestCode'
    | 'guess'
    | 'logIn'
    | 'registered'
    | 'moved'
    | 'proved'
    | 'verified'
    | 'orderDeletion'
  >;
  readonly hasher: PasswordHasher;
  readonly ids: Ids;
  readonly requestCode: RequestCode;
  readonly checkCode: CheckCode;
  readonly endSessions: EndSessions;
  readonly reauthenticate: Reauthenticate;
}
type ShownParts = 'users' | 'sessions' | 'transaction' | 'commit' | 'audit' | 'announce' | 'now';

/** The fixture of the use cases of sessions, with codes, limits and events. */
export interface AccountFixture extends UseCaseFixture {
  readonly deps: AccountDeps;
  /** The keys of codes. */
  readonly keys: KeySource & { use(source: KeySource): void };
  /** Calls to the limits, in order. */
  readonly limitCalls: unknown[];
  /** Stores an open challenge of the user, and returns it with its code. */
  challenge(user: UserDocument, purpose: CodePurpose, fields?: Partial<ChallengeDocument>): Promise<RequestedCode>;
  storedUser(userId: string): Promise<UserDocument | null>;
  storedChallenge(challengeId: string): Promise<ChallengeDocument | null>;
  /** Returns the rows of the outbox, in the order of their writing. */
  rows(): Promise<OutboxDocument[]>;
}

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
function recordingLimits(limitCalls: unknown[]): AccountDeps['limits'] {
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
  };
}

export async function openAccountFixture(): Promise<AccountFixture> {
  const fixture = await openUseCaseFixture();
  const { collections, audit, announce, now, transaction, commit } = fixture;
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
  const deps: AccountDeps = {
    ...stores,
    ...{ users: fixture.users, sessions: fixture.sessions, transaction, commit, audit, announce, now },
    ...{ codes, limits, warnOfGuesses, hasher, ids: createIds(Date.now) },
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
    keys,
    limitCalls,
    async challenge(user, purpose, fields = {}) {
      const challenge = { ...newChallenge(user._id, purpose, codes.currentKid, now()), ...fields };
      await collections.challenges.insertOne(challenge);
      const { _id: challengeId, kid, user_id: userId } = challenge;
      const emailKey = codeEmail(user, purpose)?.emailKey ?? 'nobody';
      return { challenge_id: challengeId, code: codes.codeOf({ kid, challengeId, purpose, userId, emailKey }) };
    },
    storedUser: (_id) => collections.users.findOne({ _id }),
    storedChallenge: (_id) => collections.challenges.findOne({ _id }),
    rows: () => collections.outbox.find().sort({ _id: 1 }).toArray(),
    async clear() {
      limitCalls.splice(0);
      source = { current: () => set, reread: async () => undefined };
      await Promise.all([fixture.clear(), collections.challenges.deleteMany(), collections.invites.deleteMany()]);
    },
  };
}

/** Returns an open challenge whose mail was sent a minute ago. */
function newChallenge(user_id: string, purpose: CodePurpose, kid: string, at: Date): ChallengeDocument {
  const later = (seconds: number) => new Date(at.getTime() + seconds * 1_000);
  return {
    _id: randomUUID(),
    purpose,
    user_id,
    kid,
    tries_left: 5,
    resends_left: 3,
    resend_at: at,
    created_at: later(-60),
    expires_at: later(540),
    ended_at: null,
    purge_at: later(86_340),
  };
}
