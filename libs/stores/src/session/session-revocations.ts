import type { ClientSession, Filter } from 'mongodb';
import { createTrustEnds, isTrustKept, type TrustKeepingReason } from '../account/trust-ends.ts';
import type { RevocationReason, SessionDocument } from '../documents.ts';
import type { Collections } from '../mongo/collections.ts';
import { writeOnce } from '../mongo/write-once.ts';

/** Fields that a revocation writes in addition to `is_revoked`. */
export interface Revocation {
  readonly reason: RevocationReason;
  readonly at: Date;
  readonly requestId: string;
  /** Another session whose stream the same logout closes. */
  readonly alsoClose?: string;
  /** The session of another device from which the user ended this session. */
  readonly by?: string;
  /** The provider and its security event that ended this session. */
  readonly notice?: string;
}

/** A revocation after which the account trusts the session's device as before. */
export type TrustKeepingRevocation = Revocation & { readonly reason: TrustKeepingReason };

/** Sessions of a user that one transaction has revoked. */
export interface RevokedOf {
  readonly ended: string[];
  /** True if a session is spared and it is live. */
  readonly isSpareLive: boolean;
}

export type OwnedSession = Pick<SessionDocument, '_id' | 'user_id'>;

export interface OwnSession {
  readonly sessionId: string;
  readonly userId: string;
}

export interface OwnNewestToken extends OwnSession {
  /** Hash of the newest refresh token. */
  readonly tokenHash: string;
}

/**
 * The ends of sessions. Each also ends the trust in the devices of the sessions that it ends, unless its reason keeps
 * it (`isTrustKept`). Outside a transaction the trust ends before the session, so that a failure between the two leaves
 * no trust.
 */
export interface SessionRevocations {
  /**
   * Revokes the user's sessions except for `spare`, and ends the trust in all devices except that of `spare`, with a
   * live session or without. The transaction must already have written the user's document, so that a concurrent login
   * conflicts.
   */
  revokeOf(userId: string, revocation: Revocation, session: ClientSession, spare?: string): Promise<RevokedOf>;
  /** Like `revokeOf`, for all sessions and devices of several users. Returns the sessions that it has revoked. */
  revokeOfUsers(userIds: readonly string[], revocation: Revocation, session: ClientSession): Promise<OwnedSession[]>;
  revokeAll(sessionIds: readonly string[], revocation: Revocation, session?: ClientSession): Promise<void>;
  /**
   * Revokes the session if it is live and belongs to the user; otherwise returns false. As the first statement of a
   * transaction it conflicts with no refresh that was answered before.
   */
  revokeOwn(match: OwnSession, revocation: Revocation, session?: ClientSession): Promise<boolean>;
  /**
   * Revokes the session if it is live, belongs to the user and has this newest token; otherwise returns false. Returns
   * undefined if the answer is lost ({@link writeOnce}).
   */
  revokeNewest(match: OwnNewestToken, revocation: TrustKeepingRevocation): Promise<boolean | undefined>;
}

/** A session with its device. */
type DeviceSession = OwnedSession & Pick<SessionDocument, 'device_id'>;
const projection = { user_id: 1, device_id: 1 } as const;

export function createSessionRevocations({ sessions, users }: Collections): SessionRevocations {
  const trust = createTrustEnds(users);
  const find = (filter: Filter<SessionDocument>, session?: ClientSession) =>
    sessions.find<DeviceSession>(filter, { projection, ...(session && { session }) }).toArray();

  async function write(live: readonly OwnedSession[], revocation: Revocation, session: ClientSession): Promise<void> {
    const filter = { _id: { $in: live.map(({ _id }) => _id) }, is_revoked: false };
    await sessions.updateMany(filter, { $set: revoked(revocation) }, { session });
  }

  return {
    async revokeOf(user_id, revocation, session, spare) {
      const live = await find({ user_id, is_revoked: false }, session);
      const ended = live.filter(({ _id }) => _id !== spare);
      await write(ended, revocation, session);
      if (!isTrustKept(revocation.reason)) {
        // The device of a session that is over keeps what its own end has left of the trust.
        const spared = spare === undefined ? [] : await find({ _id: spare, user_id }, session);
        const kept = spared.map(({ device_id }) => device_id);
        await trust.endAll([user_id], session, kept);
      }
      return { ended: ended.map(({ _id }) => _id), isSpareLive: ended.length < live.length };
    },
    async revokeOfUsers(userIds, revocation, session) {
      const live = await find({ user_id: { $in: [...userIds] }, is_revoked: false }, session);
      await write(live, revocation, session);
      if (!isTrustKept(revocation.reason)) await trust.endAll(userIds, session);
      return live.map(({ _id, user_id }) => ({ _id, user_id }));
    },
    async revokeAll(sessionIds, revocation, session) {
      const filter = { _id: { $in: [...sessionIds] }, is_revoked: false };
      if (!isTrustKept(revocation.reason)) await trust.endOf(await find(filter, session), session);
      await sessions.updateMany(filter, { $set: revoked(revocation) }, session ? { session } : {});
    },
    async revokeOwn(own, revocation, session) {
      const filter = liveOf(own, revocation);
      const update = { $set: revoked(revocation) };
      if (session === undefined) {
        if (!isTrustKept(revocation.reason)) await trust.endOf(await find(filter));
        return (await sessions.updateOne(filter, update)).matchedCount === 1;
      }
      const ended = await sessions.findOneAndUpdate(filter, update, { session, projection });
      if (ended !== null && !isTrustKept(revocation.reason)) await trust.endOf([ended], session);
      return ended !== null;
    },
    async revokeNewest({ tokenHash: token, ...own }, revocation) {
      const update = { q: { ...liveOf(own, revocation), token }, u: { $set: revoked(revocation) } };
      const answer = await writeOnce(sessions.db, { update: sessions.collectionName, updates: [update] });
      return answer && answer.n === 1;
    },
  };
}

/** Returns the filter for the user's session, if it is live at that time. */
export function liveOf({ sessionId, userId }: OwnSession, { at }: Pick<Revocation, 'at'>): Filter<SessionDocument> {
  return { _id: sessionId, user_id: userId, is_revoked: false, expires_at: { $gt: at } };
}

function revoked({ reason, at, requestId, alsoClose, by, notice }: Revocation): Partial<SessionDocument> {
  return {
    is_revoked: true,
    revoked_at: at,
    revoked_reason: reason,
    revoked_request_id: requestId,
    ...(alsoClose === undefined ? {} : { revoked_also_close: alsoClose }),
    ...(by === undefined ? {} : { revoked_by: by }),
    ...(notice === undefined ? {} : { revoked_notice: notice }),
  };
}
