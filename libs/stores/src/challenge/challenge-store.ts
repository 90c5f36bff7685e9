import { randomUUID } from 'node:crypto';
import type { CodePurpose } from '@auth-account/contracts/events';
import type { ClientSession, Filter } from 'mongodb';
import { emailKey } from '../account/email-key.ts';
import type { ChallengeDocument, UserDocument } from '../documents.ts';
import type { Collections } from '../mongo/collections.ts';
import { confirmedRead } from '../mongo/fenced-sessions.ts';

/**
 * Returns the email address that a code of that purpose goes to, as the user typed it, and the address's key, to which
 * the code is bound. Returns undefined if the account has no such address now.
 */
export function codeEmail(
  { email, pending_email }: Pick<UserDocument, 'email' | 'pending_email'>,
  purpose: CodePurpose,
): { readonly email: string; readonly emailKey: string } | undefined {
  const address = purpose === 'email_change' ? pending_email : email;
  return address === undefined ? undefined : { email: address, emailKey: emailKey(address) };
}

/** Reason why a challenge's code no longer counts, or `open`. */
export type ChallengeState = 'open' | 'dead' | 'expired';

/** Returns `open` if a code may still be compared. A challenge that ended before it expired stays `dead`. */
export function challengeState({ ended_at, tries_left, expires_at }: ChallengeDocument, now: Date): ChallengeState {
  if (ended_at !== null || tries_left <= 0) return 'dead';
  return expires_at <= now ? 'expired' : 'open';
}

/**
 * A challenge as a client names it. The id alone must not give access to a challenge of another purpose or another
 * caller.
 */
export type ChallengeKey = Pick<ChallengeDocument, '_id' | 'purpose'> &
  Partial<Pick<ChallengeDocument, 'user_id' | 'link'>>;

/** Fields that a resend writes. */
export type Resend = Required<Pick<ChallengeDocument, 'resent_by' | 'resend_at'>>;

/** Returns the fields of a resend at that time. The next one is due after the pause. */
export function newResend(at: Date, pauseSeconds: number): Resend {
  return { resent_by: randomUUID(), resend_at: new Date(at.getTime() + pauseSeconds * 1_000) };
}

/** Returns the time at which a resend is due or, after the last resend, at which the challenge expires. */
export function resendTime({ resends_left, resend_at, expires_at }: ChallengeDocument): Date {
  return resends_left > 0 ? resend_at : expires_at;
}

/** The fields of a challenge that its user may see. */
export type HeldChallenge = Pick<ChallengeDocument, 'purpose' | 'created_at' | 'expires_at'>;

/** Challenges: codes that were requested. Every change of a challenge is a single atomic update of its document. */
export interface ChallengeStore {
  insert(challenge: ChallengeDocument, session: ClientSession): Promise<void>;
  /** Reads with majority concern, so the result can't be rolled back. */
  exists(challengeId: string): Promise<boolean>;
  find(key: ChallengeKey): Promise<ChallengeDocument | undefined>;
  /** Like `find`, but from a state that can't be rolled back: see {@link confirmedRead}. */
  findConfirmed(key: ChallengeKey): Promise<ChallengeDocument | undefined>;
  /** Returns the user's open challenge of that purpose, or of any; the newest if there are several. */
  findOpen(userId: string, purpose: CodePurpose | undefined, now: Date): Promise<ChallengeDocument | undefined>;
  /** Returns the user's challenges that are still stored, newest first. */
  listOf(userId: string): Promise<HeldChallenge[]>;
  /**
   * Counts one wrong try and returns the challenge after the change; undefined if it is not open. No caller may reveal
   * that a code was wrong before the try is counted.
   */
  takeTry(key: ChallengeKey, now: Date): Promise<ChallengeDocument | undefined>;
  /**
   * Counts one resend and returns the challenge after the change; undefined if it is not open, or if no resend is due.
   */
  takeResend(
    key: ChallengeKey,
    resend: Resend,
    now: Date,
    session: ClientSession,
  ): Promise<ChallengeDocument | undefined>;
  /** Returns true if exactly this resend took effect. Reads with majority concern. */
  wasResent(challengeId: string, resentBy: string): Promise<boolean>;
  /**
   * Ends the challenge in the transaction of the change that it authorises; false if the challenge has ended already or
   * has no tries left. `endedBy` is the id of this confirmation.
   */
  use(challengeId: string, endedBy: string, at: Date, session: ClientSession): Promise<boolean>;
  /** Returns true if exactly this confirmation took effect. Reads with majority concern. */
  wasUsed(challengeId: string, endedBy: string): Promise<boolean>;
  /**
   * Ends the user's open challenges (those of one purpose, or all but those for the removal of the second factor) in
   * the transaction of the change. Every change of a password or email address ends them. A thief could make such
   * changes in a loop, and must not delay that removal.
   */
  endAll(userId: string, at: Date, session: ClientSession, purpose?: CodePurpose): Promise<void>;
}

export function createChallengeStore({ challenges }: Collections): ChallengeStore {
  const isThere = async (filter: Filter<ChallengeDocument>) => {
    const options = { projection: { _id: 1 }, readConcern: { level: 'majority' } } as const;
    return (await challenges.findOne(filter, options)) !== null;
  };
  return {
    async insert(challenge, session) {
      await challenges.insertOne(challenge, { session });
    },
    exists: (_id) => isThere({ _id }),
    async find(key) {
      return (await challenges.findOne(named(key))) ?? undefined;
    },
    async findConfirmed(key) {
      return (await challenges.findOne(named(key), confirmedRead)) ?? undefined;
    },
    async findOpen(userId, purpose, now) {
      const filter = { user_id: userId, ...(purpose && { purpose }), ...open(now) };
      return (await challenges.findOne(filter, { sort: { created_at: -1 } })) ?? undefined;
    },
    async listOf(userId) {
      const projection = { _id: 0, purpose: 1, created_at: 1, expires_at: 1 };
      const found = await challenges.find<HeldChallenge>({ user_id: userId }, { projection }).toArray();
      // The limits on code requests keep the list short.
      return found.sort((a, b) => b.created_at.getTime() - a.created_at.getTime());
    },
    async takeTry(key, now) {
      const update = { $inc: { tries_left: -1 } };
      const options = { returnDocument: 'after' } as const;
      return (await challenges.findOneAndUpdate({ ...named(key), ...open(now) }, update, options)) ?? undefined;
    },
    async takeResend(key, resend, now, session) {
      const due = { resends_left: { $gt: 0 }, resend_at: { $lte: now } };
      const update = { $set: resend, $inc: { resends_left: -1 } };
      const options = { session, returnDocument: 'after' } as const;
      return (await challenges.findOneAndUpdate({ ...named(key), ...open(now), ...due }, update, options)) ?? undefined;
    },
    wasResent: (_id, resent_by) => isThere({ _id, resent_by }),
    async use(_id, ended_by, at, session) {
      const update = { $set: { ended_at: at, ended_by } };
      const usable = { _id, ended_at: null, tries_left: { $gt: 0 } };
      return (await challenges.updateOne(usable, update, { session })).matchedCount === 1;
    },
    wasUsed: (_id, ended_by) => isThere({ _id, ended_by }),
    async endAll(userId, at, session, purpose) {
      const ended = purpose ?? { $ne: 'second_factor_removal' as const };
      const filter = { user_id: userId, ended_at: null, purpose: ended };
      await challenges.updateMany(filter, { $set: { ended_at: at } }, { session });
    },
  };
}

function named({ _id, purpose, user_id, link }: ChallengeKey): Filter<ChallengeDocument> {
  return { _id, purpose, ...(user_id !== undefined && { user_id }), ...(link !== undefined && { link }) };
}

/** Filter for challenges whose {@link challengeState} is `open`. */
function open(now: Date): Filter<ChallengeDocument> {
  return { ended_at: null, tries_left: { $gt: 0 }, expires_at: { $gt: now } };
}
