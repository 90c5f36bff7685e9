import type { OperationTypes } from './generated/operation-types.ts';
import type { Log } from './platform/platform.ts';

/** The session as the app may see it: no token is in it. */
export interface SessionInfo {
  readonly session_id: string;
  readonly user_id: string;
  readonly home_group_id: string;
  readonly account_type: OperationTypes['logIn']['data']['account_type'];
  readonly device_id: string;
}

/**
 * What ended the session: `logged_out` here, `no_session` if there never was one, `expired` after too long a pause; the
 * others are the service's words (`details.reason` of `IAD_JWT_REFRESH_STOLEN`).
 */
export type SignedOutReason =
  | 'no_session'
  | 'logged_out'
  | 'expired'
  | 'revoked'
  | 'replaced'
  | 'session_limit'
  | 'forced'
  | 'password_changed'
  | 'account_disabled'
  | 'account_deleted'
  | 'reused';

/** `unknown`: the storage could not be read yet. It is no reason to show a login screen. */
export type AuthState =
  | { readonly status: 'unknown' }
  | { readonly status: 'signed_in'; readonly session: SessionInfo }
  | { readonly status: 'signed_out'; readonly reason: SignedOutReason };

export interface NewDevice {
  readonly session_id: string;
  readonly device_name: string | null;
  readonly platform: string | null;
  readonly created_at: string;
}

export type AuthEvent =
  /** Every change of the state; the next two events say more about some. */
  | { readonly type: 'state'; readonly state: AuthState }
  | { readonly type: 'signed_out'; readonly reason: SignedOutReason }
  | { readonly type: 'group_changed'; readonly home_group_id: string }
  /** A login on a device that the account did not know. "Not me" is `sessions.revoke(session_id)`. */
  | { readonly type: 'new_device'; readonly id: string; readonly device: NewDevice }
  /** A message of a service of the family. */
  | { readonly type: 'message'; readonly id: string; readonly topic: string; readonly payload: unknown }
  /** `open`: messages may have been missed before, so what the app shows is read again. */
  | { readonly type: 'stream'; readonly status: 'open' | 'closed' };

export type AuthListener = (event: AuthEvent) => void;

export interface Events {
  tell(event: AuthEvent): void;
  subscribe(listener: AuthListener): () => void;
}

/**
 * Tells events to the app, each in a turn of its own: never inside a lock or in the middle of a change. A listener that
 * throws is logged and harms nobody.
 */
export function createEvents(log: Log): Events {
  const listeners = new Set<AuthListener>();
  const tellOne = (listener: AuthListener, event: AuthEvent) => {
    try {
      listener(event);
    } catch {
      // The error is the app's, and its text may hold anything.
      log({ event: 'listener_failed', code: event.type });
    }
  };
  return {
    tell(event) {
      void Promise.resolve().then(() => {
        for (const listener of [...listeners]) if (listeners.has(listener)) tellOne(listener, event);
      });
    },
    subscribe(listener) {
      // Two subscriptions of one function are two.
      const own: AuthListener = (event) => listener(event);
      listeners.add(own);
      return () => listeners.delete(own);
    },
  };
}
