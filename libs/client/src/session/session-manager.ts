import type { AuthState, SessionInfo, SignedOutReason } from '../events.ts';
import { AuthError } from '../http/auth-error.ts';
import type { Access, AccessHolder } from './access.ts';
import { endReasonOf } from './end-reason.ts';
import type { Renewal } from './renew.ts';
import {
  endedRecord,
  noRecord,
  type PendingLogout,
  type SessionRecord,
  sessionOf,
  type TokenPair,
  withLogout,
} from './session-record.ts';
import type { SessionStorage } from './session-storage.ts';

export interface SessionManagerDeps {
  readonly monotonic: () => number;
  readonly randomUUID: () => string;
  readonly now: () => number;
  readonly sessionStorage: SessionStorage;
  readonly holder: AccessHolder;
  readonly renewal: Renewal;
  /** Called when an access token is asked for. */
  readonly onUse: () => void;
}

/** The state of the client when a login began. */
export interface LoginTicket {
  /** Number of sessions that this client had ended when the login was asked for. */
  readonly endings: number;
  /** The era in which the login was sent. */
  readonly era: string;
}

/** Keeps the session from its login to its end. */
export interface SessionManager {
  state(): AuthState;
  /** Reads the storage if that has not succeeded yet. Raises `CLIENT_STATE_UNKNOWN`. */
  load(): Promise<SessionRecord>;
  /** Returns an access token that lasts a while. Raises `CLIENT_SIGNED_OUT` and the errors of a refresh. */
  access(): Promise<Access>;
  /** Returns an access token other than `refused`. At most one refresh is in flight. */
  renew(refused?: string): Promise<Access>;
  /**
   * Returns the present access token and its session, if the token has not expired. The service may still refuse it.
   */
  heldAccess(): { readonly session_id: string; readonly token: string } | undefined;
  /** Raises `CLIENT_SUPERSEDED` if the session of the token is not the present one. */
  assertHeld(access: Access): void;
  /** Returns the number of sessions that this client has ended. */
  endings(): number;
  /**
   * Stores the session of a login and returns the session that is held now. This may be a later session that another
   * tab has opened for the same user on this device. Returns undefined if a later login or logout has overtaken this
   * one; the caller must then log out the session of this login.
   */
  adoptLogin(pair: TokenPair, ticket: LoginTicket, sentAt: number): Promise<SessionInfo | undefined>;
  /**
   * Ends the session here at once. The promise settles when the storage has the change. With `isLogout`, the service
   * must still log it out.
   */
  end(reason: SignedOutReason, isLogout: boolean): Promise<void>;
  /**
   * Ends the session as a logout does. If the storage can't be read, forgets what it holds, without notifying the
   * service.
   */
  forget(): Promise<void>;
  /** Stores the logout of a session that this client never adopted. */
  orphan(session: PendingLogout): Promise<void>;
}

export function createSessionManager(deps: SessionManagerDeps): SessionManager {
  const { monotonic, sessionStorage, holder, renewal, onUse } = deps;
  const ending = createEnding(deps);

  async function load(): Promise<SessionRecord> {
    const record = sessionStorage.current() ?? (await sessionStorage.read());
    if (!ending.isWanted()) return record;
    await ending.end('logged_out', true);
    return sessionStorage.current() ?? record;
  }

  const renew = async (refused?: string) => renewal.renew(await load(), refused);

  return {
    load,
    renew,
    ...createLogin(deps, ending.endings),
    endings: ending.endings,
    end: ending.end,
    forget: ending.forget,
    state: () => (ending.isWanted() ? { status: 'signed_out', reason: 'logged_out' } : stateOf(sessionStorage)),
    async access() {
      onUse();
      const { era } = await load();
      const fresh = holder.freshOf(era);
      if (fresh) return fresh;
      try {
        return await renew();
      } catch (error) {
        // The old token is still valid for a short time and is used until the answer comes.
        const held = sessionStorage.current()?.era === era ? holder.of(era) : undefined;
        if (held && held.expiresAt > monotonic() && endReasonOf(error) === undefined) return held;
        throw error;
      }
    },
    assertHeld({ era }) {
      if (sessionStorage.current()?.era !== era) throw new AuthError('CLIENT_SUPERSEDED');
    },
    heldAccess() {
      const { era, session } = sessionStorage.current() ?? noRecord;
      const held = holder.of(era);
      return session && held && held.expiresAt > monotonic()
        ? { session_id: session.session_id, token: held.token }
        : undefined;
    },
  };
}

function createEnding({ randomUUID, now, sessionStorage }: SessionManagerDeps) {
  let endings = 0;
  let isWanted = false;
  const ending = {
    endings: () => endings,
    /**
     * True if the user has logged out while the storage could not be read. The logout is done as soon as the storage
     * can be read.
     */
    isWanted: () => isWanted,
    async end(reason: SignedOutReason, isLogout: boolean): Promise<void> {
      endings += 1;
      let newest = sessionStorage.current();
      if (newest === undefined) {
        isWanted = isLogout;
        newest = await sessionStorage.read();
      }
      isWanted = false;
      // The session ends in memory first, so that the logout does not wait for the storage.
      const ended = endedRecord(newest, randomUUID(), reason, isLogout);
      sessionStorage.accept(ended);
      // Another tab's record, or a second logout, may have come first. This logout is then added to that record before
      // the promise settles.
      await sessionStorage.update((held) => ({
        next: { ...held, logouts: held.logouts.reduce(withLogout, ended.logouts) },
      }));
    },
    async forget(): Promise<void> {
      if (sessionStorage.current()) return ending.end('logged_out', true);
      endings += 1;
      isWanted = false;
      // The count is higher than that of any forgotten record, which may become readable later.
      await sessionStorage.replace(endedRecord({ ...noRecord, n: now() }, randomUUID(), 'logged_out', false));
    },
  };
  return ending;
}

function createLogin({ randomUUID, sessionStorage, holder }: SessionManagerDeps, endings: () => number) {
  return {
    async adoptLogin(pair: TokenPair, ticket: LoginTicket, sentAt: number): Promise<SessionInfo | undefined> {
      const era = randomUUID();
      const session = sessionOf(pair);
      let later: SessionInfo | undefined;
      const isAdopted = await sessionStorage.update((newest) => {
        const twin = twinOf(session, newest);
        const isOvertaken = isOvertakenBy(newest, ticket);
        if (ticket.endings !== endings() || (isOvertaken && !twin)) return;
        if (isOvertaken && twin && twin.session_id > session.session_id) {
          later = twin;
          return;
        }
        const other = twin ? undefined : newest.session;
        return { next: { era, session, logouts: other ? withLogout(newest.logouts, other) : newest.logouts } };
      });
      if (isAdopted) holder.hold(pair, era, sentAt);
      const held = isAdopted ? session : later;
      return held && infoOf(held);
    },
    async orphan(session: PendingLogout): Promise<void> {
      await sessionStorage.update((held) => ({ next: { ...held, logouts: withLogout(held.logouts, session) } }));
    },
  };
}

/**
 * Returns the stored session if it belongs to the same user on the same device. Another tab may have opened it. The
 * service keeps the later of the two, which has the greater UUIDv7.
 */
function twinOf({ user_id, device_id }: SessionInfo, { session }: SessionRecord) {
  return session?.user_id === user_id && session.device_id === device_id ? session : undefined;
}

function isOvertakenBy({ session, reason, era }: SessionRecord, ticket: LoginTicket): boolean {
  // The record may have changed only because the service ended the previous session. This is no reason to refuse the
  // new one.
  return era !== ticket.era && !(session === undefined && reason !== 'logged_out');
}

/** Returns the state as the app may see it. */
function stateOf({ current, isUnreadable }: SessionStorage): AuthState {
  const record = current();
  if (record === undefined) return { status: 'unknown', ...(isUnreadable() && { isUnreadable: true }) };
  const { session, reason = 'no_session' } = record;
  return session ? { status: 'signed_in', session: infoOf(session) } : { status: 'signed_out', reason };
}

/** Returns the session without its token. */
function infoOf({ session_id, user_id, home_group_id, account_type, device_id }: SessionInfo): SessionInfo {
  return { session_id, user_id, home_group_id, account_type, device_id };
}
