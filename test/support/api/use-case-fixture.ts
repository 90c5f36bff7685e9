import { createHash } from 'node:crypto';
import type { AuthEvent } from '@auth-account/contracts/events';
import {
  collectionsOf,
  createTransactionRunner,
  type PresentUser,
  type RunTransaction,
  type SessionStore,
} from '@auth-account/stores';
import type { SessionDocument, UserDocument } from '@auth-account/stores/documents';
import {
  createAccessTokenSigner,
  createRefreshTokens,
  generateSecretKey,
  generateSigningKey,
  type RefreshTokens,
} from '@auth-account/tokens';
import type { KeySet, VerifiedAccessToken } from '@auth-account/verifier/access-token';
import { MongoClient } from 'mongodb';
import type { Announcement } from '../../../services/api/src/announcements/announce.ts';
import { type CommitDeps, createCommit } from '../../../services/api/src/announcements/commit.ts';
import type { Audit } from '../../../services/api/src/audit/audit.ts';
import type { LoginAttempt } from '../../../services/api/src/limits/limits.ts';
import type { RequestOrigin } from '../../../services/api/src/request/request-origin.ts';
import { createIssueTokens, precomputedHashes } from '../../../services/api/src/usecases/sessions/session.ts';
import { storesOf } from '../stores/stores-of.ts';
import { testEnvironment, uniqueName } from '../test-environment.ts';
import { newUserDocument } from './seed-accounts.ts';
import { newSessionDocument } from './session-document.ts';

/**
 * Everything around the use cases of sessions: real stores and tokens, a clock that stands still, and a record of their
 * announcements and audit events.
 */
export type UseCaseFixture = Awaited<ReturnType<typeof openUseCaseFixture>>;

export interface StoredSession {
  readonly document: SessionDocument;
  readonly token: string;
}

/** Returns an attempt that the limits admit. It records its result in `limitCalls`. */
export const recordedAttempt = (limitCalls: unknown[]): LoginAttempt => ({
  async fail() {
    limitCalls.push('failed');
    return { isLast: false };
  },
  succeed: async () => void limitCalls.push('succeeded'),
});

const accessTokenTtlSeconds = 600;
const pushPublicUrl = 'wss://push.example.com//';

/** Returns the claims of the session's access token. */
export function bearerOf({ document }: Pick<StoredSession, 'document'>): VerifiedAccessToken {
  const { _id: sid, user_id, device_id, claims } = document;
  return { user_id, sid, device_id, ...claims, exp: 2_000_000_000 };
}

/** Returns the fixture's sessions, and a list of the reads of one session, in order. */
export function readsOf({ sessions }: Pick<UseCaseFixture, 'sessions'>) {
  const reads: ('find' | 'confirmed')[] = [];
  const counted: SessionStore = {
    ...sessions,
    find: (id) => sessions.find(id).finally(() => reads.push('find')),
    findConfirmed: (id) => sessions.findConfirmed(id).finally(() => reads.push('confirmed')),
  };
  return { sessions: counted, reads };
}

/** SHA-256, base64url: a session's stored hash of its newest token. */
export const hashOf = (token: string) => createHash('sha256').update(token).digest('base64url');

export async function openUseCaseFixture() {
  const mongo = new MongoClient(testEnvironment().mongodbUri);
  const db = mongo.db(uniqueName());
  const collections = collectionsOf(db);
  // These rules do not depend on any index, and creating all indexes takes longer than the tests.
  for (const { collectionName } of [collections.users, collections.sessions]) await db.createCollection(collectionName);
  let time = Date.parse('2026-11-21T10:00:00.000Z');
  const now = () => new Date(time);
  const stores = storesOf(collections, now);
  const refreshKeys: KeySet = { keys: [generateSecretKey()] };
  const refreshTokens = createRefreshTokens(refreshKeys);
  const settings = { issuer: 'https://auth.local', audience: 'food-storage' } as const;
  const signAccessToken = createAccessTokenSigner({
    ...settings,
    keys: { keys: [await generateSigningKey('ES256')] },
    ttlSeconds: accessTokenTtlSeconds,
    now: () => time,
  });
  const recorded = recordingCommit(mongo, stores);
  const tokenOf = ({ _id: sessionId, kid, nonce, gen }: SessionDocument, generation = gen) =>
    refreshTokens.issue({ kid, sessionId, generation }, Buffer.from(nonce.value()));

  return {
    mongo,
    collections,
    users: stores.users,
    sessions: stores.sessions,
    ...recorded,
    refreshKeys,
    refreshTokens,
    issueTokens: createIssueTokens({ signAccessToken, refreshTokens, accessTokenTtlSeconds, pushPublicUrl, now }),
    /** Finds no denial. */
    isDenied: async () => false,
    origin: { requestId: 'request-1', network: '192.0.2.1' } as RequestOrigin,
    now,
    /** Moves the clock. */
    pass(ms: number) {
      time += ms;
    },
    /** Stores a live session, which lasts an hour if unused and a day in all, and returns it with its newest refresh token. */
    async session(fields: Partial<SessionDocument> = {}): Promise<StoredSession> {
      const plain = newSessionDocument({ kid: refreshTokens.currentKid, at: now() });
      const made: SessionDocument = { ...plain, expires_at: new Date(time + 3_600_000), ...fields };
      const token = refreshTokens.hasKey(made.kid) ? tokenOf(made) : '';
      const document = { ...made, token: hashOf(token), ...precomputedOf(refreshTokens, made) };
      await collections.sessions.insertOne(document);
      return { document, token };
    },
    /** Stores an account, and returns it as if nothing of it were due. */
    async user(fields: Partial<UserDocument> = {}): Promise<PresentUser> {
      const made: PresentUser = { ...newUserDocument(now()), ...fields };
      await collections.users.insertOne(made);
      return made;
    },
    tokenOf,
    asStored: (_id: string) => collections.sessions.findOne({ _id }),
    /** Forgets what was recorded, and empties the collections. */
    async clear() {
      const { audited, announced, published, messages, verdicts } = recorded;
      for (const list of [audited, announced, published, messages, verdicts]) list.splice(0);
      const { sessions, users, outbox } = collections;
      await Promise.all([sessions.deleteMany(), users.deleteMany(), outbox.deleteMany()]);
    },
    async close() {
      await db.dropDatabase();
      await mongo.close();
    },
  };
}

function precomputedOf(refreshTokens: RefreshTokens, { _id: sessionId, kid, nonce, gen: generation }: SessionDocument) {
  if (!refreshTokens.hasKey(kid)) return {};
  return { ahead: precomputedHashes(refreshTokens, { kid, sessionId, generation }, Buffer.from(nonce.value())) };
}

/** Creates commits with real transactions, and a record of their events, messages and announcements. */
function recordingCommit(mongo: MongoClient, stores: Pick<CommitDeps, 'outbox' | 'sessions' | 'users'>) {
  const audited: Parameters<Audit>[] = [];
  const announced: Announcement[] = [];
  /** The event of a code may be published after its test has ended. */
  const published: AuthEvent[] = [];
  /** Messages to apps. */
  const messages: Parameters<CommitDeps['notifySessions']>[] = [];
  const verdicts: boolean[] = [];
  const audit: Audit = (...event) => audited.push(event);
  const announce = async (announcement: Announcement) => void announced.push(announcement);
  const transaction = transactionAfterRollback(mongo, verdicts);
  const deps: CommitDeps = {
    ...{ ...stores, transaction, audit, announce },
    publishEvent: (event) => void published.push(event),
    notifySessions: (...message) => void messages.push(message),
  };
  const commitWith = (other: Partial<CommitDeps>) => createCommit({ ...deps, ...other });
  const recorded = { audited, announced, published, messages, verdicts };
  return { ...recorded, audit, announce, transaction, commit: createCommit(deps), commitWith };
}

/**
 * Runs each transaction twice: rolls it back, then commits it. Records after each run whether the request counts as
 * committed.
 */
function transactionAfterRollback(mongo: MongoClient, verdicts: boolean[]): RunTransaction {
  const transaction = createTransactionRunner(mongo);
  return async (work, request) => {
    await mongo.withSession(async (session) => {
      session.startTransaction();
      await work(session).finally(() => session.abortTransaction());
    });
    const before = await request.isCommitted();
    const result = await transaction(work, request);
    verdicts.push(before, await request.isCommitted());
    return result;
  };
}
