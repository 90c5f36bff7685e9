import type { ClientSession, Filter } from 'mongodb';
import { deviceOf, type SessionDevice } from '../account/known-devices.ts';
import type { IdentityDocument, SessionAuth, SessionClaims, SessionDocument } from '../documents.ts';
import type { Collections } from '../mongo/collections.ts';
import { confirmedRead, type FencedSessions, withFence } from '../mongo/fenced-sessions.ts';
import { type Advance, type AdvancedSession, advanceSession } from './advance-session.ts';
import { createSessionHold, type HeldUsers, type SessionHold } from './session-hold.ts';
import {
  createSessionRevocations,
  liveOf,
  type OwnedSession,
  type OwnSession,
  type SessionRevocations,
} from './session-revocations.ts';

/** Fields that a refresh writes, unless another refresh was faster. */
export type Rotation = Pick<
  SessionDocument,
  'token' | 'kid' | 'ahead' | 'gen' | 'parent' | 'floor' | 'handed_out_at' | 'last_used_at' | 'expires_at'
>;

/** Sessions (`user_sessions`). Every change of a session is a single atomic update of its document. */
export interface SessionStore extends SessionRevocations {
  find(sessionId: string, session?: ClientSession): Promise<SessionDocument | undefined>;
  /** Like `find`, but from a state that can't be rolled back. Waits until a majority has what the primary shows. */
  findConfirmed(sessionId: string): Promise<SessionDocument | undefined>;
  /** Reads with majority concern, so the result can't be rolled back. */
  exists(sessionId: string): Promise<boolean>;
  /**
   * Returns whether the session is revoked, and the current version of its claims. Reads the newest state of the
   * primary, so that no acknowledged write is missing. A read with majority concern could be older on a member that has
   * just become primary. The state may contain a write that is not acknowledged yet and may be rolled back. A caller
   * that refuses because of such a write is on the safe side.
   */
  findStatus(sessionId: string): Promise<SessionStatus | undefined>;
  /** Returns the user's live sessions at `now`, most recently used first. */
  listOwn(userId: string, now: Date): Promise<ListedSession[]>;
  /**
   * Returns all of the user's sessions that are not revoked, then at most `maxRevoked` revoked sessions, the latest
   * end first.
   */
  listHeld(userId: string, maxRevoked: number): Promise<{ sessions: HeldSession[]; hasMore: boolean }>;
  /** Returns the name by which the account knows the session's device; empty if the session is gone. */
  findDevice(sessionId: string): Promise<string[]>;
  /** Returns true if all these sessions are revoked. Reads with majority concern. */
  areRevoked(sessionIds: readonly string[]): Promise<boolean>;
  /** Returns the user's sessions that are not revoked, least recently used first. */
  listLive(userId: string, session: ClientSession): Promise<SessionSummary[]>;
  /** Returns the session if it is not revoked. */
  findLive(sessionId: string, session: ClientSession): Promise<OwnedSession | undefined>;
  /**
   * Returns the user's sessions that are not revoked and that the identity has opened. A session of an earlier release
   * names no identity: it counts if some identity has opened it, and not before this one was linked.
   */
  listOpenedBy(userId: string, identity: Opener, session: ClientSession): Promise<OwnedSession[]>;
  insert(document: SessionDocument, session: ClientSession): Promise<void>;
  /**
   * Stores a newer proof of the user, and returns the session after it; undefined if the session is not live, or has two
   * factors and `sparesTwo` is true.
   */
  renewAuth(
    match: OwnSession & { readonly sparesTwo: boolean },
    auth: SessionAuth,
    session?: ClientSession,
  ): Promise<SessionDocument | undefined>;
  /** The usual refresh: see {@link advanceSession}. */
  advance(advance: Advance): Promise<AdvancedSession | undefined>;
  /**
   * The compare-and-set of a refresh that has read the session. Returns the session after the change; undefined if the
   * session is revoked, or if its generations, claims or hold have changed since the read. Ends the hold if the session
   * that was read had one.
   */
  rotate(seen: SessionDocument, rotation: Rotation): Promise<SessionDocument | undefined>;
  /**
   * Writes new claims with the next version into the user's sessions that are not revoked, and returns the new
   * versions.
   */
  changeClaims(userId: string, change: ClaimsChange, session: ClientSession): Promise<ClaimsVersion[]>;
  /**
   * Creates a hold on the users' sessions for a transaction that ends or moves them. A refresh of a held session waits.
   * Without a hold, refreshes in a loop could make the transaction conflict again and again, because each refresh
   * writes its session.
   */
  holdOf(users: HeldUsers): SessionHold;
  /** Runs `read` on the state that the primary had at this call, once a majority has it: see {@link withFence}. */
  withFence<T>(read: (fenced: FencedSessions) => Promise<T>): Promise<T>;
}

export type SessionStatus = Pick<SessionDocument, 'is_revoked'> & {
  readonly claims: Pick<SessionDocument['claims'], 'ver'>;
};

const deviceFields = { device_id: 1, is_device_named: 1 } as const;
const summarised = { ...deviceFields, last_used_at: 1, created_at: 1, expires_at: 1, opened_by: 1 } as const;

export type SessionSummary = Pick<SessionDocument, '_id' | keyof typeof summarised>;

const listed = {
  device_id: 1,
  device_name: 1,
  platform: 1,
  created_at: 1,
  last_used_at: 1,
  expires_at: 1,
  cnf: 1,
  is_trusted: 1,
} as const;

export type ListedSession = Pick<SessionDocument, '_id' | keyof typeof listed>;

const held = { ...listed, auth: 1, 'claims.home_group_id': 1, revoked_at: 1, revoked_reason: 1 } as const;

/** The fields of a session that its user may see. */
export type HeldSession = ListedSession &
  Pick<SessionDocument, 'auth' | 'revoked_at' | 'revoked_reason'> & {
    readonly claims: Pick<SessionClaims, 'home_group_id'>;
  };

/** The part of an identity by which its sessions are found. */
export type Opener = Pick<IdentityDocument, 'id' | 'created_at'>;

/** Fields that a change of group writes into each session in addition to the next `ver`. */
export interface ClaimsChange extends Omit<SessionClaims, 'ver'> {
  readonly at: Date;
  readonly requestId: string;
}

export type ClaimsVersion = Pick<SessionDocument, '_id'> & { readonly claims: Pick<SessionClaims, 'ver'> };

export function createSessionStore(collections: Collections): SessionStore {
  const { sessions, erasedSessions } = collections;
  return {
    ...createReads(sessions),
    ...createSessionRevocations(collections),
    ...createWrites(sessions),
    holdOf: (users) => createSessionHold(sessions, users),
    withFence: (read) => withFence({ sessions, erasedSessions }, read),
  };
}

type Reads =
  | 'find'
  | 'findConfirmed'
  | 'exists'
  | 'findStatus'
  | 'listOwn'
  | 'listHeld'
  | 'findDevice'
  | 'areRevoked'
  | 'listLive'
  | 'findLive'
  | 'listOpenedBy';

function createReads(sessions: Collections['sessions']): Pick<SessionStore, Reads> {
  return {
    async find(sessionId, session) {
      return (await sessions.findOne({ _id: sessionId }, session ? { session } : {})) ?? undefined;
    },
    async findConfirmed(sessionId) {
      return (await sessions.findOne({ _id: sessionId }, confirmedRead)) ?? undefined;
    },
    async exists(sessionId) {
      const options = { projection: { _id: 1 }, readConcern: { level: 'majority' } } as const;
      return (await sessions.findOne({ _id: sessionId }, options)) !== null;
    },
    async findStatus(sessionId) {
      const options = { projection: { is_revoked: 1, 'claims.ver': 1 }, readConcern: { level: 'local' } } as const;
      return (await sessions.findOne<SessionStatus>({ _id: sessionId }, options)) ?? undefined;
    },
    async listOwn(userId, now) {
      const own = { user_id: userId, is_revoked: false, expires_at: { $gt: now } };
      const found = await sessions.find<ListedSession>(own, { projection: listed }).toArray();
      // There are at most 50 sessions, so sorting them here costs less than a stage in MongoDB.
      return found.sort((a, b) => b.last_used_at.getTime() - a.last_used_at.getTime());
    },
    async listHeld(userId, maxRevoked) {
      const options = { projection: held };
      const [live, revoked] = await Promise.all([
        sessions.find<HeldSession>({ user_id: userId, is_revoked: false }, options).toArray(),
        sessions
          .find<HeldSession>({ user_id: userId, is_revoked: true }, options)
          .sort({ revoked_at: -1 })
          .limit(maxRevoked + 1)
          .toArray(),
      ]);
      return { sessions: [...live, ...revoked.slice(0, maxRevoked)], hasMore: revoked.length > maxRevoked };
    },
    async findDevice(_id) {
      const found = await sessions.findOne<SessionDevice>({ _id }, { projection: deviceFields });
      return found === null ? [] : [deviceOf(found)];
    },
    async areRevoked(sessionIds) {
      const options = { readConcern: { level: 'majority' } } as const;
      return (await sessions.countDocuments({ _id: { $in: [...sessionIds] }, is_revoked: false }, options)) === 0;
    },
    async listLive(userId, session) {
      const options = { session, projection: summarised };
      const live = await sessions.find<SessionSummary>({ user_id: userId, is_revoked: false }, options).toArray();
      // Sorted here for the same reason as in `listOwn`.
      return live.sort((a, b) => a.last_used_at.getTime() - b.last_used_at.getTime());
    },
    async findLive(sessionId, session) {
      const options = { session, projection: { user_id: 1 } };
      return (await sessions.findOne<OwnedSession>({ _id: sessionId, is_revoked: false }, options)) ?? undefined;
    },
    listOpenedBy(userId, { id, created_at }, session) {
      const unnamed = { identity_id: { $exists: false }, 'auth.amr': 'fed', created_at: { $gte: created_at } };
      const filter = { user_id: userId, is_revoked: false, $or: [{ identity_id: id }, unnamed] };
      return sessions.find<OwnedSession>(filter, { session, projection: { user_id: 1 } }).toArray();
    },
  };
}

function createWrites(
  sessions: Collections['sessions'],
): Omit<SessionStore, Reads | keyof SessionRevocations | 'holdOf' | 'withFence'> {
  return {
    async insert(document, session) {
      await sessions.insertOne(document, { session });
    },
    async renewAuth({ sparesTwo, ...own }, auth, session) {
      const options = { returnDocument: 'after', ...(session && { session }) } as const;
      const filter = { ...liveOf(own, auth), ...(sparesTwo && { 'auth.acr': { $ne: '2' } as const }) };
      return (await sessions.findOneAndUpdate(filter, { $set: { auth } }, options)) ?? undefined;
    },
    advance: (advance) => advanceSession(sessions, advance),
    async rotate(seen, rotation) {
      const { hold, ...unheld } = seen;
      const { _id, gen, parent, claims } = seen;
      // The filter has all fields of a live session that can change. So the new state is known without a read. A
      // retryable findAndModify would return that state, but also store an image of the document.
      const held: Filter<SessionDocument> = hold === undefined ? { hold: { $exists: false } } : { 'hold.by': hold.by };
      const filter = { _id, gen, parent, ...withClaims(claims), is_revoked: false, ...held };
      const update = { $set: rotation, ...(hold && { $unset: { hold: true as const } }) };
      const { matchedCount } = await sessions.updateOne(filter, update);
      return matchedCount === 1 ? { ...unheld, ...rotation } : undefined;
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
 * Filter for a session with exactly these claims. The version alone is not enough, because the claims that were read
 * may have been rolled back since. The same version may then belong to another change of group.
 */
function withClaims({ home_group_id, account_type, ver }: SessionClaims) {
  return { 'claims.home_group_id': home_group_id, 'claims.account_type': account_type, 'claims.ver': ver };
}
