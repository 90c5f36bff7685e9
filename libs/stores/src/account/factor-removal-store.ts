import { randomUUID } from 'node:crypto';
import type { ClientSession, Filter } from 'mongodb';
import type { FactorRemoval, UserDocument } from '../documents.ts';
import type { Collections } from '../mongo/collections.ts';
import { type PresentUser, presentUser, secondFactorFields } from './present-user.ts';

/** Time between the order and the removal, in ms. Nobody can shorten it. */
const delayMs = 72 * 3_600_000;

/** Returns a new order. */
export function newRemoval(at: Date, by: FactorRemoval['by']): FactorRemoval {
  return { id: randomUUID(), ordered_at: at, due_at: new Date(at.getTime() + delayMs), by };
}

/** An account whose removal is due. */
export interface DueRemoval {
  readonly userId: string;
  readonly removal: FactorRemoval;
  readonly locale: UserDocument['locale'];
}

/**
 * Ordered removals of second factors (docs/specification/sign-in.md, "Lost second factor"). An order is part of the
 * authenticator app that it removes, so no change of the account can leave it behind, and only a new app, the end of the
 * factor or a stop ends it.
 */
export interface FactorRemovalStore {
  /**
   * Orders the removal, unless one is ordered already. Returns the order that runs now; undefined if the second factor
   * is off.
   */
  order(userId: string, removal: FactorRemoval, session: ClientSession): Promise<FactorRemoval | undefined>;
  /** Returns the account with that order. */
  findHolder(removalId: string): Promise<PresentUser | undefined>;
  /** Ends the order; false if it has ended, or was due at `at`. */
  stop(userId: string, removalId: string, at: Date, session: ClientSession): Promise<boolean>;
  /** Returns some of the accounts whose removal was due at `by`. */
  listDue(by: Date, page: { readonly skip: number; readonly limit: number }): Promise<DueRemoval[]>;
  /** Returns the number of accounts whose removal was due at `by`, `limit` at most. */
  countDue(by: Date, limit: number): Promise<number>;
  /**
   * Switches the second factor off at `at`; false if the order has ended, or is carried out already. Conflicts with a
   * concurrent login.
   */
  carryOut(due: DueRemoval, at: Date, session: ClientSession): Promise<boolean>;
}

export function createFactorRemovalStore({ users }: Collections, now: () => Date): FactorRemovalStore {
  return {
    async order(_id, removal, session) {
      const waiting: Filter<UserDocument> = {
        _id,
        totp: { $exists: true },
        'totp.removal.due_at': { $not: { $lte: removal.ordered_at } },
      };
      const update = [{ $set: { 'totp.removal': { $ifNull: ['$totp.removal', removal] } } }];
      const options = { session, returnDocument: 'after', projection: { totp: 1 } } as const;
      return (await users.findOneAndUpdate(waiting, update, options))?.totp?.removal;
    },
    async findHolder(removalId) {
      return presentUser(await users.findOne({ 'totp.removal.id': removalId }), now());
    },
    async stop(_id, removalId, at, session) {
      const waiting = { _id, 'totp.removal.id': removalId, 'totp.removal.due_at': { $gt: at } };
      const update = { $unset: { 'totp.removal': true as const } };
      return (await users.updateOne(waiting, update, { session })).matchedCount === 1;
    },
    async listDue(by, { skip, limit }) {
      const options = { projection: { 'totp.removal': 1, locale: 1 }, skip, limit } as const;
      const found = await users.find({ 'totp.removal.due_at': { $lte: by } }, options).toArray();
      return found.flatMap(({ _id, totp, locale }) =>
        totp?.removal === undefined ? [] : [{ userId: _id, removal: totp.removal, locale }],
      );
    },
    countDue: (by, limit) => users.countDocuments({ 'totp.removal.due_at': { $lte: by } }, { limit }),
    async carryOut({ userId, removal }, at, session) {
      const due = { _id: userId, 'totp.removal.id': removal.id, 'totp.removal.due_at': { $lte: at } };
      // Later than the change before, so that the account's version differs.
      const ways_changed_at = { $max: [at, { $add: ['$ways_changed_at', 1] }] };
      const touches = { $add: [{ $ifNull: ['$touches', 0] }, 1] };
      const update = [{ $set: { ways_changed_at, touches } }, { $unset: [...secondFactorFields] }];
      return (await users.updateOne(due, update, { session })).matchedCount === 1;
    },
  };
}
