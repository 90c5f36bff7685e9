import { type NewDevicePayload, newDeviceTopic } from '@auth-account/contracts';
import type { AccountEventOf, AuthEvent } from '@auth-account/contracts/events';
import type { LoginRequest } from '@auth-account/contracts/http/login';
import { createAccountEvent, eventOrigin } from '@auth-account/messaging';
import type { OutboxStore, SessionSummary } from '@auth-account/stores';
import type { SessionDocument, UserDocument } from '@auth-account/stores/documents';
import { hasNoticeLeft, type LearnedDevice, unnamedDevice } from '@auth-account/stores/users';
import type { ClientSession } from 'mongodb';
import type { TellSessions } from '../../announcements/tell-sessions.ts';
import type { Ids } from '../../request/ids.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';

export interface NewDeviceDeps {
  readonly outbox: Pick<OutboxStore, 'append'>;
  readonly publishEvent: (event: AuthEvent) => void;
  readonly tellSessions: TellSessions;
  readonly ids: Pick<Ids, 'entityId'>;
}

/** A login, or a restore, as its transaction sees it. */
export interface DeviceLogin {
  /** State before the login. */
  readonly user: UserDocument;
  /** Returned by {@link knownAs}. */
  readonly device: string;
  readonly at: Date;
  /** Opened by the login; missing for a restore, which opens none. */
  readonly session?: SessionDocument;
  /** The user's sessions before the login. */
  readonly live: readonly Pick<SessionSummary, '_id' | 'device_id'>[];
  /** Those that the login ends. */
  readonly ended: readonly string[];
}

/** A notice that the login's transaction has written, or would have if the account had one left. */
export interface NewDeviceNotice {
  readonly isWritten: boolean;
  readonly event: AccountEventOf<'service.auth.events.notice'>;
  readonly session: SessionDocument | undefined;
  /** Sessions whose apps are told. */
  readonly others: readonly string[];
}

/** Tells an account's holder of a login on a new device: first in its transaction, then after its commit. */
export interface NewDeviceNotices {
  /**
   * Appends the notice if the account has one left today, and returns it; undefined if the account knows the device.
   */
  append(login: DeviceLogin, origin: RequestOrigin, session: ClientSession): Promise<NewDeviceNotice | undefined>;
  /**
   * Publishes the notice, and tells the other sessions of the one that they can end. It waits for nothing and never
   * fails.
   */
  announce(notice: NewDeviceNotice): void;
}

/** Returns the name by which an account knows the device of a request. */
export function knownAs({ device_id }: Pick<LoginRequest, 'device_id'>): string {
  return device_id?.toLowerCase() ?? unnamedDevice;
}

/**
 * Returns the device if the account, as the login has read it, does not know it. It does not count if it is the
 * account's first, or if no notice is left: else somebody who goes on could keep the account from notices for ever.
 */
export function learnedDevice(seen: UserDocument, name: string, at: Date): LearnedDevice | undefined {
  const { known_devices } = seen;
  if (known_devices?.includes(name)) return;
  return { name, counts: known_devices !== undefined && hasNoticeLeft(seen, at) };
}

/** Creates the two steps of a notice (docs/specification/login-and-tokens.md, "New devices"). */
export function createNewDeviceNotices(deps: NewDeviceDeps): NewDeviceNotices {
  const { outbox, publishEvent, tellSessions, ids } = deps;
  return {
    async append(login, origin, transactionSession) {
      if (!isNew(login)) return;
      const { user, at, session, live, ended } = login;
      const opened = session && { session_id: session._id };
      const told = { user_id: user._id, purpose: 'new_device', locale: mailLocale(user, origin) } as const;
      const data = { ...told, ...opened };
      const event = createAccountEvent('service.auth.events.notice', data, eventOrigin(origin, at, ids));
      const isWritten = hasNoticeLeft(user, at);
      if (isWritten) await outbox.append(event, at, transactionSession);
      return { isWritten, event, session, others: live.map(({ _id }) => _id).filter((id) => !ended.includes(id)) };
    },
    announce({ isWritten, event, session, others }) {
      if (isWritten) publishEvent(event);
      if (session === undefined) return;
      const { _id: session_id, device_name, platform, created_at: at } = session;
      const payload: NewDevicePayload = { session_id, device_name, platform, created_at: at.toISOString() };
      tellSessions(others, { topic: newDeviceTopic, payload, id: event.id, at });
    },
  };
}

/**
 * Returns true if the account does not know the device. One that has used none yet, or was imported, learns its first
 * device without a notice; one that has forgotten all does not.
 */
function isNew({ user: { known_devices }, device, live }: DeviceLogin): boolean {
  const isUsed = known_devices?.includes(device) || live.some(({ device_id }) => device_id === device);
  return !isUsed && (known_devices !== undefined || live.length > 0);
}
