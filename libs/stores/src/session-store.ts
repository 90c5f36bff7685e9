import type { ClientSession, Filter } from 'mongodb';
import type { Collections } from './collections.ts';
import type { RevocationReason, SessionClaims, SessionDocument } from './documents.ts';
import { confirmedRead, type FencedSessions, withFence } from './fenced-sessions.ts';

/** Fields that a revocation writes beside `is_revoked`. */
export interface Revocation {
  readonly reason: RevocationReason;
  readonly at: Date;
  readonly requestId: string;
  /** Another session whose stream is to be closed by the same logout. */
  readonly alsoClose?: string;
}

/** Fields that a refresh writes if no other one was faster. */
export type Rotation = Pick<
  SessionDocument,
  'token' | 'kid' | 'gen' | 'parent' | 'floor' | 'handed_out_at' | 'last_used_at' | 'expires_at'
>;

/** Sessions (`user_sessions`). Every change of one is a single atomic update of its document. */
export interface SessionStore {
  find(sessionId: string): Promise<SessionDocument | undefined>;
  /** The same, from a state that cannot be rolled back: waits until a majority has what the primary shows. */
  findConfirmed(sessionId: string): Promise<SessionDocument | undefined>;
  /** Reads with majority concern: what it says cannot be rolled back. */
  exists(sessionId: string): Promise<boolean>;
  /**
   * Finds whether the session is revoked, and which version of its claims is good. Reads what the primary has, so that
   * nothing that was acknowledged is missing: the majority's view of a member that has just become primary may be
   * older. What is not acknowledged yet, and may be rolled back, counts too: for a caller that refuses by it that is
   * the safe side.
   */
  findStanding(sessionId: string): Promise<SessionStanding | undefined>;
  /** The user's live sessions at `now`, the one used last first. */
  listOwn(userId: string, now: Date): Promise<ListedSession[]>;
  /** Are all of them revoked? Reads with majority concern. */
  areRevoked(sessionIds: readonly string[]): Promise<boolean>;
  /** The user's sessions that are not revoked, the one unused for longest first. */
  listLive(userId: string, session: ClientSession): Promise<SessionSummary[]>;
  /** The session if it is not revoked. */
  findLive(sessionId: string, session: ClientSession): Promise<OwnedSession | undefined>;
  /** The sessions of these users that are not revoked. */
  listLiveOf(userIds: readonly string[], session: ClientSession): Promise<OwnedSession[]>;
  insert(document: SessionDocument, session: ClientSession): Promise<void>;
  revokeAll(sessionIds: readonly string[], revocation: Revocation, session?: ClientSession): Promise<void>;
  /**
   * Revokes the session if it is live and the user's, and, if a hash is given, its newest token has it. False if it
   * is not so.
   */
  revokeOwn(match: OwnSession, revocation: Revocation): Promise<boolean>;
  /**
   * The compare-and-set of a refresh: the session as it then is, undefined if it or its claims have changed since it
   * was read, or it is revoked.
   */
  rotate(seen: SessionDocument, rotation: Rotation): Promise<SessionDocument | undefined>;
  /** Writes new claims of the next version into the user's sessions that are not revoked; returns these versions. */
  changeClaims(userId: string, change: ClaimsChange, session: ClientSession): Promise<ClaimsVersion[]>;
  /** Runs `read` with what a majority has of all that the primary had taken by then: see {@link withFence}. */
  withFence<T>(read: (fenced: FencedSessions) => Promise<T>): Promise<T>;
}

export type SessionStanding = Pick<SessionDocument, 'is_revoked'> & {
  readonly claims: Pick<SessionDocument['claims'], 'ver'>;
};

export type SessionSummary = Pick<SessionDocument, '_id' | 'device_id' | 'last_used_at'>;

const listed = { device_id: 1, device_name: 1, platform: 1, created_at: 1, last_used_at: 1, expires_at: 1 } as const;

export type ListedSession = Pick<SessionDocument, '_id' | keyof typeof listed>;

export type OwnedSession = Pick<SessionDocument, '_id' | 'user_id'>;

/** Fields that a change of group writes into each session beside the next `ver`. */
export interface ClaimsChange extends Omit<SessionClaims, 'ver'> {
  readonly at: Date;
  readonly requestId: string;
}

export type ClaimsVersion = Pick<SessionDocument, '_id'> & { readonly claims: Pick<SessionClaims, 'ver'> };

export interface OwnSession {
  readonly sessionId: string;
  readonly userId: string;
  /** Hash of the newest refresh token; without it any state of the session will do. */
  readonly tokenHash?: string;
}

export function createSessionStore({ sessions }: Collections): SessionStore {
  return {
    ...createReads(sessions),
    ...createWrites(sessions),
    withFence: (read) => withFence({ sessions }, read),
  };
}

type Reads =
  | 'find'
  | 'findConfirmed'
  | 'exists'
  | 'findStanding'
  | 'listOwn'
  | 'areRevoked'
  | 'listLive'
  | 'findLive'
  | 'listLiveOf';

function createReads(sessions: Collections['sessions']): Pick<SessionStore, Reads> {
  return {
    async find(sessionId) {
      return (await sessions.findOne({ _id: sessionId })) ?? undefined;
    },
    async findConfirmed(sessionId) {
      return (await sessions.findOne({ _id: sessionId }, confirmedRead)) ?? undefined;
    },
    async exists(sessionId) {
      const options = { projection: { _id: 1 }, readConcern: { level: 'majority' } } as const;
      return (await sessions.findOne({ _id: sessionId }, options)) !== null;
    },
    async findStanding(sessionId) {
      const options = { projection: { is_revoked: 1, 'claims.ver': 1 }, readConcern: { level: 'local' } } as const;
      return (await sessions.findOne<SessionStanding>({ _id: sessionId }, options)) ?? undefined;
    },
    async listOwn(userId, now) {
      const own = { user_id: userId, is_revoked: false, expires_at: { $gt: now } };
      const found = await sessions.find<ListedSession>(own, { projection: listed }).toArray();
      // 50 at most: sorting them here costs less than a stage in MongoDB.
      return found.sort((a, b) => b.last_used_at.getTime() - a.last_used_at.getTime());
    },
    async areRevoked(sessionIds) {
      const options = { readConcern: { level: 'majority' } } as const;
      return (await sessions.countDocuments({ _id: { $in: [...sessionIds] }, is_revoked: false }, options)) === 0;
    },
    listLive(userId, session) {
      const projection = { device_id: 1, last_used_at: 1 };
      return sessions
        .find({ user_id: userId, is_revoked: false }, { session, projection })
        .sort({ last_used_at: 1 })
        .toArray();
    },
    async findLive(sessionId, session) {
      const options = { session, projection: { user_id: 1 } };
      return (await sessions.findOne<OwnedSession>({ _id: sessionId, is_revoked: false }, options)) ?? undefined;
    },
    listLiveOf(userIds, session) {
      const filter = { user_id: { $in: [...userIds] }, is_revoked: false };
      return sessions.find<OwnedSession>(filter, { session, projection: { user_id: 1 } }).toArray();
    },
  };
}

function createWrites(sessions: Collections['sessions']): Omit<SessionStore, Reads | 'withFence'> {
  return {
    async insert(document, session) {
      await sessions.insertOne(document, { session });
    },
    async revokeAll(sessionIds, revocation, session) {
      const filter = { _id: { $in: [...sessionIds] }, is_revoked: false };
      await sessions.updateMany(filter, { $set: revoked(revocation) }, session ? { session } : {});
    },
    async revokeOwn({ sessionId, userId, tokenHash }, revocation) {
      const filter: Filter<SessionDocument> = {
        _id: sessionId,
        user_id: userId,
        is_revoked: false,
        expires_at: { $gt: revocation.at },
        ...(tokenHash === undefined ? {} : { token: tokenHash }),
      };
      return (await sessions.updateOne(filter, { $set: revoked(revocation) })).matchedCount === 1;
    },
    async rotate(seen, rotation) {
      const { _id, gen, parent, claims } = seen;
      // All that ever changes in a live session, so that what it is afterwards is known without asking (a retryable
      // findAndModify keeps an image of the document besides).
      const filter = { _id, gen, parent, ...withClaims(claims), is_revoked: false };
      const { matchedCount } = await sessions.updateOne(filter, { $set: rotation });
      return matchedCount === 1 ? { ...seen, ...rotation } : undefined;
    },
    async changeClaims(userId, { home_group_id, account_type, at, requestId }, session) {
      const live = { user_id: userId, is_revoked: false };
      const claims = { 'claims.home_group_id': home_group_id, 'claims.account_type': account_type };
      const changed = { ...claims, claims_changed_at: at, claims_request_id: requestId };
      await sessions.updateMany(live, { $set: changed, $inc: { 'claims.ver': 1 } }, { session });
      return sessions.find<ClaimsVersion>(live, { session, projection: { 'claims.ver': 1 } }).toArray();
    },
  };
}

/**
 * All of them: those that were read may have been rolled back since, and another change of group have their version.
 */
function withClaims({ home_group_id, account_type, ver }: SessionClaims) {
  return { 'claims.home_group_id': home_group_id, 'claims.account_type': account_type, 'claims.ver': ver };
}

function revoked({ reason, at, requestId, alsoClose }: Revocation): Partial<SessionDocument> {
  return {
    is_revoked: true,
    revoked_at: at,
    revoked_reason: reason,
    revoked_request_id: requestId,
    ...(alsoClose === undefined ? {} : { revoked_also_close: alsoClose }),
  };
}
