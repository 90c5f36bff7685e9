import { type NewDevicePayload, newDeviceTopic } from '@auth-account/contracts';
import { disturbing, visible } from '@auth-account/contracts/http/fields';
import type { LoginRequest } from '@auth-account/contracts/http/login';
import { createAccountEvent, eventOrigin } from '@auth-account/messaging';
import type { PresentUser, SessionSummary } from '@auth-account/stores';
import type { SessionDocument } from '@auth-account/stores/documents';
import {
  deviceOf,
  hasNotificationLeft,
  type LearnedDevice,
  type SessionDevice,
  unnamedDevice,
} from '@auth-account/stores/known-devices';
import { none, type Outcome } from '../../announcements/commit.ts';
import type { Ids } from '../../request/ids.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';

/** The device of a login, as its app has named it. `device_id` is missing if the app has sent none, and never made up. */
export type DeviceFields = Pick<LoginRequest, 'device_id' | 'device_name' | 'platform'>;

const disturbance = new RegExp(`[${disturbing}]`, 'gu');
const anyVisible = new RegExp(visible, 'u');

/** Returns the name of the device in a form that is safe to show to others; null if it has no visible character. */
export function deviceNameOf(given = ''): string | null {
  const name = given.replace(disturbance, '');
  return anyVisible.test(name) ? name : null;
}

/** Data of a login or a restore, read in its transaction. */
export interface DeviceLogin {
  /** The user before the login. */
  readonly user: PresentUser;
  /** The device's name, from {@link knownAs}. */
  readonly device: string;
  readonly at: Date;
  /** The session that the login opens; missing for a restore, which opens none. */
  readonly session?: SessionDocument;
  /** The user's sessions before the login. */
  readonly live: readonly (Pick<SessionSummary, '_id'> & SessionDevice)[];
  /** Ids of the sessions that the login ends. */
  readonly ended: readonly string[];
}

/** Returns the name by which an account knows the device of a request. */
export function knownAs({ device_id }: Pick<LoginRequest, 'device_id'>): string {
  return device_id?.toLowerCase() ?? unnamedDevice;
}

/**
 * Returns the device if the account, as the login has read it, does not know the device. The account's first device
 * does not count for the limit of notifications. If none is left today, no device counts, because otherwise repeated
 * logins could prevent the notifications for ever.
 */
export function learnedDevice(seen: PresentUser, name: string, at: Date): LearnedDevice | undefined {
  const { known_devices } = seen;
  if (known_devices?.includes(name)) return;
  return { name, counts: known_devices !== undefined && hasNotificationLeft(seen, at) };
}

/** The notification of a login, as parts of the login's outcome. */
export type NewDeviceNotification = Required<Pick<Outcome, 'events' | 'messages'>>;

/**
 * Returns the notification of a login on a new device (docs/specification/login-and-tokens.md, "New devices"). It goes
 * by mail if the account has one left today. A login's notification also goes to the apps of the account's other
 * sessions, which can end the new session. For a device that the account knows there is no notification.
 */
export function newDeviceNotification(
  { ids }: { readonly ids: Pick<Ids, 'entityId'> },
  login: DeviceLogin,
  origin: RequestOrigin,
): NewDeviceNotification {
  if (!isNew(login)) return { events: none, messages: none };
  const { user, at, session, live, ended } = login;
  const notified = { user_id: user._id, purpose: 'new_device', locale: mailLocale(user, origin) } as const;
  const data = { ...notified, ...(session && { session_id: session._id }) };
  const event = createAccountEvent('service.auth.events.notice', data, eventOrigin(origin, at, ids));
  const to = live.map(({ _id }) => _id).filter((id) => !ended.includes(id));
  const content = session && {
    topic: newDeviceTopic,
    payload: payloadOf(session),
    id: event.id,
    at: session.created_at,
  };
  return {
    events: hasNotificationLeft(user, at) ? [event] : none,
    messages: content === undefined ? none : [{ to, content }],
  };
}

function payloadOf({ _id: session_id, device_name, platform, created_at }: SessionDocument): NewDevicePayload {
  return { session_id, device_name, platform, created_at: created_at.toISOString() };
}

/**
 * Returns true if the account does not know the device and must be notified. An account that has used no device yet, or
 * was imported, learns its first device without a notification. An account that has forgotten all its devices is
 * notified.
 */
function isNew({ user: { known_devices }, device, live }: DeviceLogin): boolean {
  // An app may have kept the id that was made up for it.
  const isLive = live.some((session) => session.device_id === device || deviceOf(session) === device);
  const isUsed = known_devices?.includes(device) || isLive;
  return !isUsed && (known_devices !== undefined || live.length > 0);
}
