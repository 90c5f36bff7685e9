import { AuthError } from '../http/auth-error.ts';
import type { Log, Platform } from '../platform/platform.ts';
import type { SafeStorage } from '../platform/safe-storage.ts';
import type { Exclusive } from './exclusive.ts';
import { logoutsAfter, noRecord, type SessionRecord, withLogout } from './session-record.ts';
import { createStorageSlots, type StorageSlots } from './storage-slots.ts';

/** A change of the record. The storage adds the count `n`. */
export interface RecordChange {
  readonly next: Omit<SessionRecord, 'n'>;
  /** The record that is kept in memory if the storage refuses `next`. If it is left out, `next` is kept. */
  readonly unwritten?: SessionRecord;
  /** Called just before the change takes effect in memory and is reported to the app. */
  readonly onKept?: () => void;
}

/** Keeps the record in memory and in the storage. */
export interface SessionStorage {
  /** Returns undefined until the storage could be read. */
  current(): SessionRecord | undefined;
  /** Returns true if the latest read of the storage failed. */
  isUnreadable(): boolean;
  /**
   * Reads the storage again, because another tab may have written it. Raises `CLIENT_STATE_UNKNOWN` if it was never
   * readable. With `others` (the channel to other tabs, if there are any) it also raises if the storage is not readable
   * now, because another tab may have written a newer record than the one in memory.
   */
  read(others?: Platform['openChannel']): Promise<SessionRecord>;
  /** Takes a record into memory if it is newer. */
  accept(record: SessionRecord): void;
  /**
   * Changes the newest record in memory and in the storage, unless `change` returns undefined. Returns true if the
   * record was changed and no logout overtook the change while it was written.
   */
  update(change: (newest: SessionRecord) => RecordChange | undefined): Promise<boolean>;
  /** Writes the record again if the storage refused it. Returns false if the storage refuses it again. */
  rewrite(): Promise<boolean>;
  /**
   * Puts the record in the place of what the storage holds, without reading that. Settles when the storage has the record
   * or has refused it.
   */
  replace(record: SessionRecord): Promise<void>;
}

export interface SessionStorageDeps {
  readonly platform: { readonly storage: SafeStorage };
  readonly exclusive: Exclusive;
  readonly prefix: string;
  readonly log: Log;
  /** Called synchronously for every change in memory, and without records if the storage turns out to be unreadable. */
  readonly onChange: (before?: SessionRecord, after?: SessionRecord) => void;
  /** Called when the storage has a change, so that other tabs can read it. */
  readonly onWritten: () => void;
}

/** Keeps the record in memory. A record of an era that has ended never replaces it. */
function createMemory(onChange: SessionStorageDeps['onChange']) {
  let current: SessionRecord | undefined;
  /**
   * Eras that this tab knows; true if the era has ended. A late write by another tab must not bring an ended era back.
   */
  const eras = new Map<string, boolean>();
  return {
    current: () => current,
    /** Returns undefined for an era that this tab does not know. */
    hasEnded: (era: string) => eras.get(era),
    /** Marks an era that was written but never held in memory as ended. */
    discard: (era: string) => void eras.set(era, true),
    hold(record: SessionRecord): void {
      const before = current;
      if (before && eras.get(record.era)) {
        // The next write must still have the highest count.
        current = { ...before, n: Math.max(before.n, record.n), logouts: logoutsAfter(before, record) };
        return;
      }
      const isOther = before?.era !== record.era;
      if (before?.session && isOther) eras.set(before.era, true);
      // A lower count, or another era, may come from a storage that was wiped. The storage has then lost the logouts
      // that this tab still has to send, so they are kept. A logout that another tab has already sent is sent again,
      // without effect.
      const mayBeWiped = before && (isOther || record.n <= before.n);
      current = mayBeWiped ? { ...record, logouts: record.logouts.reduce(withLogout, before.logouts) } : record;
      eras.set(record.era, false);
      onChange(before, current);
    },
  };
}

/** Reads the storage into memory. */
function createReading(
  slots: StorageSlots,
  {
    current,
    accept,
    log,
    onChange,
  }: Pick<SessionStorage, 'current' | 'accept'> & Pick<SessionStorageDeps, 'log' | 'onChange'>,
) {
  let isUnreadable = false;
  /** Number of times that the storage's content was forgotten. A read from before that must not bring it back. */
  let forgettings = 0;
  return {
    isUnreadable: () => isUnreadable,
    forget(): void {
      forgettings += 1;
      slots.forget();
    },
    async read(others?: Platform['openChannel']): Promise<SessionRecord> {
      const before = forgettings;
      let stored: SessionRecord | undefined;
      try {
        stored = await slots.read();
        isUnreadable = false;
      } catch {
        log({ event: 'storage_unreadable' });
        isUnreadable = true;
        if (!current()) onChange();
        if (others || !current()) throw new AuthError('CLIENT_STATE_UNKNOWN');
      }
      if (before !== forgettings) stored = undefined;
      // If the storage has become empty, or its content was lost, the user did not ask to log out, so the record in
      // memory stays. Only a stored record has a count.
      accept(stored?.n ? stored : (current() ?? stored ?? noRecord));
      return current() ?? noRecord;
    },
  };
}

/** Creates the storage. The record in memory is the valid one, and the storage follows it. */
export function createSessionStorage({
  platform,
  exclusive,
  prefix,
  log,
  onChange,
  onWritten,
}: SessionStorageDeps): SessionStorage {
  let isUnwritten = false;
  const slots = createStorageSlots(platform.storage, prefix, log);
  const { current, hasEnded, discard, hold } = createMemory(onChange);

  function accept(record: SessionRecord): void {
    // An era that this tab does not know is a later one from another tab, even if its count is lower, because the
    // storage may have been wiped, or may have refused this tab's writes.
    const held = current();
    if (!held || record.n > held.n || hasEnded(record.era) !== false) hold(record);
  }

  const { read, isUnreadable, forget } = createReading(slots, { current, accept, log, onChange });

  /** Writes the change, and returns the record to keep in memory. */
  async function write(next: SessionRecord, unwritten = next): Promise<SessionRecord> {
    try {
      await slots.write(next);
      isUnwritten = false;
      // Other tabs learn of the change even if a logout has overtaken it, because the app may be killed before the
      // logout is written.
      onWritten();
      return next;
    } catch {
      isUnwritten = true;
      log({ event: 'storage_failed' });
      if (!next.session) await slots.clear(next);
      return unwritten;
    }
  }

  async function update(change: Parameters<SessionStorage['update']>[0]): Promise<boolean> {
    return exclusive('store', async () => {
      const newest = await read();
      const changed = change(newest);
      if (!changed) return false;
      const kept = await write({ ...changed.next, n: newest.n + 1 }, changed.unwritten);
      // A logout takes effect in memory at once and will write over this change next.
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
    isUnreadable,
    read,
    accept,
    update,
    async rewrite() {
      if (isUnwritten) await update((held) => ({ next: held }));
      return !isUnwritten;
    },
    async replace(record) {
      forget();
      hold(record);
      await exclusive('store', async () => void (await write(record)));
    },
  };
}
