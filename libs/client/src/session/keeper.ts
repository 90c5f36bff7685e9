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
import type { Vault } from './vault.ts';

export interface KeeperDeps {
  readonly monotonic: () => number;
  readonly randomUUID: () => string;
  readonly vault: Vault;
  readonly holder: AccessHolder;
  readonly renewal: Renewal;
  /** Is told when an access token is asked for. */
  readonly onUse: () => void;
}

/** A login under way. */
export interface LoginTicket {
  /** Sessions that this client had ended when the login was asked for. */
  readonly endings: number;
  /** The era when it was sent. */
  readonly era: string;
}

/** The session from its login to its end. */
export interface Keeper {
  state(): AuthState;
  /** Reads the storage if that has not succeeded yet. Raises `CLIENT_STATE_UNKNOWN`. */
  load(): Promise<SessionRecord>;
  /** Returns an access token that lasts a while. Raises `CLIENT_SIGNED_OUT` and whatever a refresh raises. */
  access(): Promise<Access>;
  /** Returns another access token than `refused`. One refresh is in flight at most. */
  renew(refused?: string): Promise<Access>;
  /** The access token of this moment, if it has not expired, and its session; it may be refused all the same. */
  heldAccess(): { readonly session_id: string; readonly token: string } | undefined;
  /** Raises `CLIENT_SUPERSEDED` if the session of the token is not the present one. */
  assertHeld(access: Access): void;
  /** Number of sessions that this client has ended. */
  endings(): number;
  /**
   * Stores the session of a login, and returns the one that is held now: another tab may have opened it for the same user
   * on this device, later. Undefined if a later login or logout has overtaken it: its session is to be logged out.
   */
  adoptLogin(pair: TokenPair, ticket: LoginTicket, sentAt: number): Promise<SessionInfo | undefined>;
  /** Ends the session here, at once; the promise is about the storage. With `isLogout` the service is to be told. */
  end(reason: SignedOutReason, isLogout: boolean): Promise<void>;
  /** Keeps a session to be logged out that never was this client's. */
  orphan(session: PendingLogout): Promise<void>;
}

export function createKeeper(deps: KeeperDeps): Keeper {
  const { monotonic, vault, holder, renewal, onUse } = deps;
  const ending = createEnding(deps);

  async function load(): Promise<SessionRecord> {
    const record = vault.current() ?? (await vault.read());
    if (!ending.isWanted()) return record;
    await ending.end('logged_out', true);
    return vault.current() ?? record;
  }

  const renew = async (refused?: string) => renewal.renew(await load(), refused);

  return {
    load,
    renew,
    ...createLogin(deps, ending.endings),
    endings: ending.endings,
    end: ending.end,
    state: () => (ending.isWanted() ? { status: 'signed_out', reason: 'logged_out' } : stateOf(vault.current())),
    async access() {
      onUse();
      const { era } = await load();
      const fresh = holder.freshOf(era);
      if (fresh) return fresh;
      try {
        return await renew();
      } catch (error) {
        // It lasts a little longer, and may do while there is no answer.
        const held = vault.current()?.era === era ? holder.of(era) : undefined;
        if (held && held.expiresAt > monotonic() && endReasonOf(error) === undefined) return held;
        throw error;
      }
    },
    assertHeld({ era }) {
      if (vault.current()?.era !== era) throw new AuthError('CLIENT_SUPERSEDED');
    },
    heldAccess() {
      const { era, session } = vault.current() ?? noRecord;
      const held = holder.of(era);
      return session && held && held.expiresAt > monotonic()
        ? { session_id: session.session_id, token: held.token }
        : undefined;
    },
  };
}

function createEnding({ randomUUID, vault }: KeeperDeps) {
  let endings = 0;
  let isWanted = false;
  return {
    endings: () => endings,
    /** True if the user has logged out while the storage could not be read: it is done as soon as it can. */
    isWanted: () => isWanted,
    async end(reason: SignedOutReason, isLogout: boolean): Promise<void> {
      endings += 1;
      let newest = vault.current();
      if (newest === undefined) {
        isWanted = isLogout;
        newest = await vault.read();
      }
      isWanted = false;
      // In memory first: nobody waits for a storage to be logged out.
      const ended = endedRecord(newest, randomUUID(), reason, isLogout);
      vault.accept(ended);
      // If another tab's record, or a second logout, has come between, this logout is in the storage too before it says so.
      await vault.update((held) => ({ next: { ...held, logouts: held.logouts.reduce(withLogout, ended.logouts) } }));
    },
  };
}

function createLogin({ randomUUID, vault, holder }: KeeperDeps, endings: () => number) {
  return {
    async adoptLogin(pair: TokenPair, ticket: LoginTicket, sentAt: number): Promise<SessionInfo | undefined> {
      const era = randomUUID();
      const session = sessionOf(pair);
      let later: SessionInfo | undefined;
      const isAdopted = await vault.update((newest) => {
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
      await vault.update((held) => ({ next: { ...held, logouts: withLogout(held.logouts, session) } }));
    },
  };
}

/**
 * The session held, if it is of the same user on the same device: another tab may have opened it meanwhile. The service
 * keeps the later of the two, whose UUIDv7 is the greater.
 */
function twinOf({ user_id, device_id }: SessionInfo, { session }: SessionRecord) {
  return session?.user_id === user_id && session.device_id === device_id ? session : undefined;
}

function isOvertakenBy({ session, reason, era }: SessionRecord, ticket: LoginTicket): boolean {
  // The service may have ended the session before, and said so first: that is no reason to refuse this one.
  return era !== ticket.era && !(session === undefined && reason !== 'logged_out');
}

/** The state as the app may see it. */
function stateOf(record: SessionRecord | undefined): AuthState {
  if (record === undefined) return { status: 'unknown' };
  const { session, reason = 'no_session' } = record;
  return session ? { status: 'signed_in', session: infoOf(session) } : { status: 'signed_out', reason };
}

/** The session without its token. */
function infoOf({ session_id, user_id, home_group_id, account_type, device_id }: SessionInfo): SessionInfo {
  return { session_id, user_id, home_group_id, account_type, device_id };
}
