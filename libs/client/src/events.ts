import type { OperationTypes } from './generated/operation-types.ts';
import type { Log } from './platform/platform.ts';

/** The session as the app may see it, without tokens. */
export interface SessionInfo {
  readonly session_id: string;
  readonly user_id: string;
  readonly home_group_id: string;
  readonly account_type: OperationTypes['logIn']['data']['account_type'];
  readonly device_id: string;
}

/**
 * Reason why the session ended: `logged_out` here, `no_session` if there never was one, `expired` if it was not used
 * for too long, `storage_lost` if the device's storage can never read it again. The other reasons come from the service (`details.reason` of `IAD_JWT_REFRESH_STOLEN`).
 */
export type SignedOutReason =
  | 'no_session'
  | 'logged_out'
  | 'expired'
  | 'storage_lost'
  | 'revoked'
  | 'replaced'
  | 'session_limit'
  | 'forced'
  | 'password_changed'
  | 'account_disabled'
  | 'account_deleted'
  | 'reused';

/**
 * The state of the session. `unknown` means that the storage could not be read yet. It is no reason to show a login
 * screen. With `isUnreadable` a read has failed, or did not settle in time; the client goes on trying, and `forget` is
 * the way out.
 */
export type AuthState =
  | { readonly status: 'unknown'; readonly isUnreadable?: true }
  | { readonly status: 'signed_in'; readonly session: SessionInfo }
  | { readonly status: 'signed_out'; readonly reason: SignedOutReason };

export interface NewDevice {
  readonly session_id: string;
  readonly device_name: string | null;
  readonly platform: string | null;
  readonly created_at: string;
}

export type AuthEvent =
  /** Reported for every change of the state. The next two events give details of some changes. */
  | { readonly type: 'state'; readonly state: AuthState }
  | { readonly type: 'signed_out'; readonly reason: SignedOutReason }
  | { readonly type: 'group_changed'; readonly home_group_id: string }
  /**
   * Only with the group `secondFactor`: a login begins to wait for the second factor, or waits no longer; or another
   * `removal()` of the factor is known.
   */
  | { readonly type: 'second_factor'; readonly status: 'waiting' | 'over' | 'removal' }
  /** Only with the group `federated`: another person waits, or none. */
  | { readonly type: 'federated'; readonly status: 'waiting' | 'over' }
  /**
   * A login on a device that the account did not know. If the user says "not me", call `sessions.revoke(session_id)`.
   */
  | { readonly type: 'new_device'; readonly id: string; readonly device: NewDevice }
  /** A message from a service of the family. */
  | { readonly type: 'message'; readonly id: string; readonly topic: string; readonly payload: unknown }
  /** After `open` the app should read its data again, because it may have missed messages. */
  | { readonly type: 'stream'; readonly status: 'open' | 'closed' }
  /**
   * The gateway, or a proxy before it, refuses the handshake because its headers are too long (431), most often by the
   * cookies of the domain. The client tries again every five minutes.
   */
  | { readonly type: 'stream_refused'; readonly reason: 'headers_too_large' };

export type AuthListener = (event: AuthEvent) => void;

export interface Events {
  notify(event: AuthEvent): void;
  subscribe(listener: AuthListener): () => void;
}

/**
 * Reports events to the app. Each event is reported asynchronously, never inside a lock or in the middle of a change. A
 * listener that throws is logged, and the others are still called.
 */
export function createEvents(log: Log): Events {
  const listeners = new Set<AuthListener>();
  const notifyOne = (listener: AuthListener, event: AuthEvent) => {
    try {
      listener(event);
    } catch {
      // The error is the app's, and its text may hold anything.
      log({ event: 'listener_failed', code: event.type });
    }
  };
  return {
    notify(event) {
      void Promise.resolve().then(() => {
        for (const listener of [...listeners]) if (listeners.has(listener)) notifyOne(listener, event);
      });
    },
    subscribe(listener) {
      // The same function may subscribe twice.
      const own: AuthListener = (event) => listener(event);
      listeners.add(own);
      return () => listeners.delete(own);
    },
  };
}
