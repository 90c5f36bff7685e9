import type { ClientSession } from 'mongodb';
import type { RevocationReason, SessionDocument } from '../documents.ts';
import type { Collections } from '../mongo/collections.ts';

/**
 * For each reason of a session's end: true if the account then trusts the session's device as before. Only what the
 * owner does on that device, and what says nothing about it, keeps the trust. Everything else says, or may say, that
 * the device is in other hands.
 */
const keepsTrust = {
  /** Made with the session's own refresh token, so on that device. */
  logout: true,
  /** By a new login on the device. */
  replaced: true,
  /** The session unused for longest gave way to another. */
  session_limit: true,
  refresh_token_reuse: false,
  revoked_by_user: false,
  revoked_by_provider: false,
  forced: false,
  password_changed: false,
  account_disabled: false,
  account_deleted: false,
} as const satisfies Readonly<Record<RevocationReason, boolean>>;

/** A reason of an end that keeps the trust in the session's device. */
export type TrustKeepingReason = {
  [R in RevocationReason]: (typeof keepsTrust)[R] extends true ? R : never;
}[RevocationReason];

/** Returns false for each reason that ends the trust in the session's device, also for one of a newer release. */
export function isTrustKept(reason: RevocationReason): reason is TrustKeepingReason {
  return keepsTrust[reason] === true;
}

/** A device of an account. */
type Device = Pick<SessionDocument, 'user_id' | 'device_id'>;

/** The writes that end the trust in devices. */
export interface TrustEnds {
  /** Ends the trust in these devices. */
  endOf(devices: readonly Device[], session?: ClientSession): Promise<void>;
  /** Ends the trust in all devices of the users except `kept`. */
  endAll(userIds: readonly string[], session: ClientSession, kept?: readonly string[]): Promise<void>;
}

export function createTrustEnds(users: Collections['users']): TrustEnds {
  return {
    async endOf(devices, session) {
      const byUser = Map.groupBy(devices, ({ user_id }) => user_id);
      for (const [_id, own] of byUser) {
        const device_id = { $in: own.map((each) => each.device_id) };
        const trusting = { _id, 'trusted_devices.device_id': device_id };
        const update = { $pull: { trusted_devices: { device_id } } };
        await users.updateOne(trusting, update, session ? { session } : {});
      }
    },
    async endAll(userIds, session, kept = []) {
      const trusting = { _id: { $in: [...userIds] }, trusted_devices: { $exists: true } };
      await users.updateMany(trusting, { $pull: { trusted_devices: { device_id: { $nin: [...kept] } } } }, { session });
    },
  };
}
