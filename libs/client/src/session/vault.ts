import { AuthError } from '../http/auth-error.ts';
import type { Log, Platform } from '../platform/platform.ts';
import type { Exclusive } from './exclusive.ts';
import { logoutsAfter, noRecord, type SessionRecord, withLogout } from './session-record.ts';
import { createSlots } from './slots.ts';

/** A change of the record. The vault counts it. */
export interface RecordChange {
  readonly next: Omit<SessionRecord, 'n'>;
  /** What holds in memory if the storage refuses `next`; without it, `next` does. */
  readonly unwritten?: SessionRecord;
  /** Is called just before the change holds, and so before the app hears of it. */
  readonly onKept?: () => void;
}

/** Keeps the record in memory and in the storage. */
export interface Vault {
  /** Undefined until the storage could be read. */
  current(): SessionRecord | undefined;
  /**
   * Reads the storage again, which another tab may have written. Raises `CLIENT_STATE_UNKNOWN` if it was never readable;
   * with `others` (the channel to other tabs, if there are any), also if it is not readable now: what is in memory may be
   * older than what another tab has written.
   */
  read(others?: Platform['openChannel']): Promise<SessionRecord>;
  /** Takes a record into memory, if it is newer. */
  accept(record: SessionRecord): void;
  /**
   * Changes the newest record, in memory and in the storage; nothing if `change` returns undefined. Returns whether it
   * was changed, and not overtaken by a logout while it was written.
   */
  update(change: (newest: SessionRecord) => RecordChange | undefined): Promise<boolean>;
  /** Writes the record again if the storage refused it. Returns false if it refuses it still. */
  rewrite(): Promise<boolean>;
}

export interface VaultDeps {
  readonly platform: Pick<Platform, 'storage'>;
  readonly exclusive: Exclusive;
  readonly prefix: string;
  readonly log: Log;
  /** Is told every change in memory, in the same turn. */
  readonly onChange: (before: SessionRecord | undefined, after: SessionRecord) => void;
  /** Is told when the storage has a change, so that other tabs can read it. */
  readonly onWritten: () => void;
}

/** The record in memory, which no record of an era that has ended replaces. */
function createMemory(onChange: VaultDeps['onChange']) {
  let current: SessionRecord | undefined;
  /** Eras that this tab knows; true if they have ended. A late write of another tab must not bring these back. */
  const eras = new Map<string, boolean>();
  return {
    current: () => current,
    /** Undefined for an era that this tab does not know. */
    hasEnded: (era: string) => eras.get(era),
    /** Ends an era that was written and never held. */
    discard: (era: string) => void eras.set(era, true),
    hold(record: SessionRecord): void {
      const before = current;
      if (before && eras.get(record.era)) {
        // The next write must be the highest all the same.
        current = { ...before, n: Math.max(before.n, record.n), logouts: logoutsAfter(before, record) };
        return;
      }
      const isOther = before?.era !== record.era;
      if (before?.session && isOther) eras.set(before.era, true);
      // A lower count, or another era, may be that of a storage which was wiped and has lost the logouts that this tab
      // still has to send. One that another tab has sent meanwhile is sent again, and does nothing.
      const mayBeWiped = before && (isOther || record.n <= before.n);
      current = mayBeWiped ? { ...record, logouts: record.logouts.reduce(withLogout, before.logouts) } : record;
      eras.set(record.era, false);
      onChange(before, current);
    },
  };
}

/** Creates the vault: what is in memory holds, and the storage follows. */
export function createVault({ platform, exclusive, prefix, log, onChange, onWritten }: VaultDeps): Vault {
  let isUnwritten = false;
  const slots = createSlots(platform.storage, prefix, log);
  const { current, hasEnded, discard, hold } = createMemory(onChange);

  function accept(record: SessionRecord): void {
    // An era that this tab has not known is another tab's later one, whatever its count: the storage may have been wiped,
    // or have refused what this tab has counted.
    const held = current();
    if (!held || record.n > held.n || hasEnded(record.era) !== false) hold(record);
  }

  async function read(others?: Platform['openChannel']): Promise<SessionRecord> {
    let stored: SessionRecord | undefined;
    try {
      stored = await slots.read();
    } catch {
      log({ event: 'storage_unreadable' });
      if (others || !current()) throw new AuthError('CLIENT_STATE_UNKNOWN');
    }
    // An empty storage that was not empty before has been wiped by somebody else, who did not ask to log out.
    accept(stored ?? current() ?? noRecord);
    return current() ?? noRecord;
  }

  /** Writes the change, and returns what is to hold in memory. */
  async function write(next: SessionRecord, unwritten = next): Promise<SessionRecord> {
    try {
      await slots.write(next);
      isUnwritten = false;
      // Also if a logout has overtaken it: the app may be killed before that one is written.
      onWritten();
      return next;
    } catch {
      isUnwritten = true;
      log({ event: 'storage_failed' });
      if (!next.session) await slots.clear(next);
      return unwritten;
    }
  }

  async function update(change: Parameters<Vault['update']>[0]): Promise<boolean> {
    return exclusive('store', async () => {
      const newest = await read();
      const changed = change(newest);
      if (!changed) return false;
      const kept = await write({ ...changed.next, n: newest.n + 1 }, changed.unwritten);
      // A logout is in memory at once, and writes over this one next.
      const held = current()?.era;
      if (held !== newest.era && held !== kept.era) {
        discard(kept.era);
        return false;
      }
      changed.onKept?.();
      hold(kept);
      return true;
    });
  }

  return {
    current,
    read,
    accept,
    update,
    async rewrite() {
      if (isUnwritten) await update((held) => ({ next: held }));
      return !isUnwritten;
    },
  };
}
