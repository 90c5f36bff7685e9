import type { SessionDocument, UserDocument } from '../documents.ts';

/** Maximum number of devices that an account remembers. */
const knownDevices = 20;

/** Maximum number of notifications of new devices that an account is sent within 24 hours. */
const newDeviceNotifications = 10;
const dayMs = 86_400_000;

/** Returns true if the account may still be notified of a new device at that time. */
export function hasNotificationLeft(
  { new_device_notices }: Pick<UserDocument, 'new_device_notices'>,
  at: Date,
): boolean {
  const oldest = new_device_notices?.at(-newDeviceNotifications);
  return oldest === undefined || oldest.getTime() + dayMs <= at.getTime();
}

/** A device of a login that the account did not know before. */
export interface LearnedDevice {
  /** Undefined if the account must not know the device yet, because a second factor must follow. */
  readonly name: string | undefined;
  /** True if the login counts towards the daily limit of notifications. */
  readonly counts: boolean;
}

/** Represents, in `known_devices`, all clients without a `device_id`, because they can't be distinguished. */
export const unnamedDevice = 'unnamed';

/** Entries that a login on a new device adds to lists of the user's document. */
export const learn = ({ name, counts }: LearnedDevice, at: Date) => ({
  ...(name !== undefined && { known_devices: { $each: [name], $slice: -knownDevices } }),
  ...(counts && { new_device_notices: { $each: [at], $slice: -newDeviceNotifications } }),
});

/** The fields of a session that show which device it is on. */
export type SessionDevice = Pick<SessionDocument, 'device_id' | 'is_device_named'>;

/**
 * Returns the name by which an account knows the device of a session. A session of an earlier release counts as one
 * whose `device_id` was sent, which costs its user at most one notification.
 */
export function deviceOf({ device_id, is_device_named = true }: SessionDevice): string {
  return is_device_named ? device_id : unnamedDevice;
}

/**
 * Returns the names that an account forgets with the device of a session: if in doubt both, so that no notification is
 * missed.
 */
export function forgottenWith(device: SessionDevice): string[] {
  return device.is_device_named === undefined ? [device.device_id, unnamedDevice] : [deviceOf(device)];
}
