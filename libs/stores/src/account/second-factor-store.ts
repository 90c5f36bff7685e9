import { Binary, type ClientSession } from 'mongodb';
import type { PendingTotp, SealedSeed, TrustedDevice, UserDocument } from '../documents.ts';
import type { Collections } from '../mongo/collections.ts';
import { type Credentials, credentialsVersion, unchangedSince } from './credentials.ts';
import type { PresentUser } from './present-user.ts';

export { secondFactorFields } from './present-user.ts';

/** Limit for the devices that an account trusts. Above the limit, the device that was trusted first is forgotten. */
const trustedLimit = 20;

/** A secret that can be guessed. */
export type GuessedSecret = 'password' | 'second_factor';

/** Secret → the field that holds it, and the field for the time of the latest warning of guesses. */
const warnings = {
  password: ['password_hash', 'password_warned_at'],
  second_factor: ['totp', 'guesses_warned_at'],
} as const satisfies Record<GuessedSecret, readonly (keyof UserDocument)[]>;

/** Part of the user's document that a recovery can remove. */
export type RemovableField = keyof UserDocument | 'totp.removal';

/** Returns true if each login to the account needs a second factor, unless its device is trusted. */
export function hasSecondFactor({ totp }: PresentUser<Pick<UserDocument, 'totp'>>): boolean {
  return totp !== undefined;
}

/** Returns the methods with which the account's user can give the second factor; none if it is off. */
export function factorMethods(
  { totp, recovery_codes = [], passkeys = [] }: PresentUser<Pick<UserDocument, 'totp' | 'recovery_codes' | 'passkeys'>>,
  arePasskeysOn: boolean,
): ('totp' | 'recovery_code' | 'passkey')[] {
  if (totp === undefined) return [];
  return [
    'totp',
    ...(recovery_codes.length > 0 ? ['recovery_code' as const] : []),
    ...(arePasskeysOn && passkeys.length > 0 ? ['passkey' as const] : []),
  ];
}

/**
 * Returns the devices whose logins need no second factor at that time, the latest first. A change of a sign-in method
 * has ended the trust in all earlier ones.
 */
export function trustedDevicesOf(user: UserDocument, at: Date): TrustedDevice[] {
  const version = credentialsVersion(user);
  return (user.trusted_devices ?? []).filter((each) => each.version === version && each.until > at).toReversed();
}

/** The seed of a confirmed authenticator app. */
export interface StoredSeed {
  readonly userId: string;
  readonly sealed: SealedSeed;
}

/** A use of a step of an authenticator app. */
export interface StepUse {
  readonly factorId: string;
  readonly step: number;
  readonly recoveryKey: Uint8Array;
}

/** Second factors of accounts. They are fields of the user's document. */
export interface SecondFactorStore {
  /**
   * Stores an authenticator app that must still be confirmed. Returns false, and stores nothing, if a sign-in method
   * has been changed since the account was read.
   */
  enrol(seen: Credentials, pending: PendingTotp, session: ClientSession): Promise<boolean>;
  /**
   * Uses a step of that authenticator app up, and stores the key of its recovery codes; false if this step or a later
   * step was used before.
   */
  useStep(userId: string, use: StepUse, session?: ClientSession): Promise<boolean>;
  /** Uses a recovery code up. Returns the number of codes that are left; undefined if the code was used before. */
  useRecoveryCode(userId: string, hash: string, session?: ClientSession): Promise<number | undefined>;
  /** Adds a trusted device, in place of an earlier entry of the same device. */
  trust(userId: string, device: TrustedDevice, session: ClientSession): Promise<void>;
  /** Ends the trust in the device, if the account trusts it. */
  endTrust(userId: string, deviceId: string, session: ClientSession): Promise<void>;
  /**
   * Stores that the owner was warned at `at` of guesses at that secret; false if that was done after `due`, or if the
   * account has no such secret.
   */
  noteWarning(
    userId: string,
    secret: GuessedSecret,
    warning: { readonly at: Date; readonly due: Date },
    session: ClientSession,
  ): Promise<boolean>;
  /** Yields each seed that is sealed under none of these keys, once, also while they are sealed again. */
  listStale(kids: readonly string[]): AsyncIterable<StoredSeed>;
  /** Replaces the sealed form of a seed, unless it has been replaced since it was read. */
  reseal(stored: StoredSeed, by: Pick<SealedSeed, 'kid' | 'seed'>): Promise<void>;
  /** Removes, from all accounts, authenticator apps that were not confirmed by `by`. */
  removeLapsed(by: Date): Promise<void>;
}

export function createSecondFactorStore({ users }: Collections): SecondFactorStore {
  return {
    async enrol(seen, pending_totp, session) {
      const { matchedCount } = await users.updateOne(unchangedSince(seen), { $set: { pending_totp } }, { session });
      return matchedCount === 1;
    },
    async useStep(_id, { factorId, step, recoveryKey }, session) {
      const unused = { _id, 'totp.factor_id': factorId, 'totp.last_step': { $lt: step } };
      const update = { $set: { 'totp.last_step': step, 'totp.recovery_key': new Binary(recoveryKey) } };
      return (await users.updateOne(unused, update, { ...(session && { session }) })).matchedCount === 1;
    },
    async useRecoveryCode(_id, hash, session) {
      const options = {
        projection: { recovery_codes: 1 },
        returnDocument: 'after',
        ...(session && { session }),
      } as const;
      const update = { $pull: { recovery_codes: hash } };
      const after = await users.findOneAndUpdate({ _id, recovery_codes: hash }, update, options);
      return after === null ? undefined : (after.recovery_codes?.length ?? 0);
    },
    async trust(_id, device, session) {
      const others = {
        $filter: {
          input: { $ifNull: ['$trusted_devices', []] },
          cond: { $ne: ['$$this.device_id', device.device_id] },
        },
      };
      const trusted_devices = { $slice: [{ $concatArrays: [others, [device]] }, -trustedLimit] };
      await users.updateOne({ _id }, [{ $set: { trusted_devices } }], { session });
    },
    async endTrust(_id, device_id, session) {
      const trusting = { _id, 'trusted_devices.device_id': device_id };
      await users.updateOne(trusting, { $pull: { trusted_devices: { device_id } } }, { session });
    },
    async noteWarning(_id, secret, { at, due }, session) {
      const [owned, field] = warnings[secret];
      const isDue = { _id, [owned]: { $exists: true }, [field]: { $not: { $gt: due } } };
      return (await users.updateOne(isDue, { $set: { [field]: at } }, { session })).matchedCount === 1;
    },
    async *listStale(kids) {
      const options = { projection: { totp: 1 }, batchSize: 100 } as const;
      for await (const { _id, totp } of users.find({ 'totp.kid': { $exists: true, $nin: [...kids] } }, options)) {
        if (totp !== undefined) yield { userId: _id, sealed: totp };
      }
    },
    async reseal({ userId, sealed: { factor_id, kid: from } }, { kid, seed }) {
      const same = { _id: userId, 'totp.factor_id': factor_id, 'totp.kid': from };
      await users.updateOne(same, { $set: { 'totp.kid': kid, 'totp.seed': seed } });
    },
    async removeLapsed(by) {
      await users.updateMany({ 'pending_totp.until': { $lte: by } }, { $unset: { pending_totp: true } });
    },
  };
}
