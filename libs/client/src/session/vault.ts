import { AuthError } from '../http/auth-error.ts';
import type { LogEntry, Platform } from '../platform/platform.ts';
import type { Exclusive } from './exclusive.ts';
import { noRecord, type SessionRecord } from './session-record.ts';
import { createSlots } from './slots.ts';

/** A change of the record. */
export interface RecordChange {
  readonly next: SessionRecord;
  /** What holds in memory if the storage refuses `next`; without it, `next` does. */
  readonly unwritten?: SessionRecord;
}

/** Keeps the record in memory and in the storage. */
export interface Vault {
  /** Undefined until the storage could be read. */
  current(): SessionRecord | undefined;
  /** Reads the storage again, which another tab may have written. Raises `CLIENT_STATE_UNKNOWN` if it was never readable. */
  read(): Promise<SessionRecord>;
  /** Takes a record into memory, if it is newer. */
  accept(record: SessionRecord): void;
  /**
   * Changes the newest record, in memory and in the storage; nothing if `change` returns undefined. Returns whether it
   * was changed.
   */
  update(change: (newest: SessionRecord) => RecordChange | undefined): Promise<boolean>;
  /** Writes the record again if the storage refused it. Returns false if it refuses it still. */
  rewrite(): Promise<boolean>;
}

export interface VaultDeps {
  readonly platform: Pick<Platform, 'storage'>;
  readonly exclusive: Exclusive;
  readonly prefix: string;
  readonly log: (entry: Omit<LogEntry, 'at'>) => void;
  /** Is told every change in memory, in the same turn. */
  readonly onChange: (before: SessionRecord | undefined, after: SessionRecord) => void;
  /** Is told when the storage has a change, so that other tabs can read it. */
  readonly onWritten: () => void;
}

/** Creates the vault: what is in memory holds, and the storage follows. */
export function createVault({ platform, exclusive, prefix, log, onChange, onWritten }: VaultDeps): Vault {
  let isUnwritten = false;
  const slots = createSlots(platform.storage, prefix, log);
  let current: SessionRecord | undefined;
  // A late write of another tab, or a storage that could not be written, must not bring them back.
  const endedEras = new Set<string>();
  const knownEras = new Set<string>();

  function accept(record: SessionRecord): void {
    // An era that this tab has not known is another tab's later one, whatever its count: the storage may have been wiped.
    const isForeign = !isUnwritten && !knownEras.has(record.era);
    if (current === undefined || record.n > current.n || isForeign) hold(record);
  }

  function hold(record: SessionRecord): void {
    const before = current;
    if (before && endedEras.has(record.era)) {
      // The next write must be the highest all the same.
      current = { ...before, n: Math.max(before.n, record.n) };
      return;
    }
    if (before?.session && before.era !== record.era) endedEras.add(before.era);
    current = record;
    knownEras.add(record.era);
    onChange(before, record);
  }

  async function read(): Promise<SessionRecord> {
    let stored: SessionRecord | undefined;
    try {
      stored = await slots.read();
    } catch {
      log({ event: 'storage_unreadable' });
      if (current === undefined) throw new AuthError('CLIENT_STATE_UNKNOWN');
    }
    // An empty storage that was not empty before has been wiped by somebody else, who did not ask to log out.
    accept(stored ?? current ?? noRecord);
    return current ?? noRecord;
  }

  async function update(change: Parameters<Vault['update']>[0]): Promise<boolean> {
    return exclusive('store', async () => {
      const changed = change(await read());
      if (changed === undefined) return false;
      isUnwritten = false;
      try {
        await slots.write(changed.next);
        hold(changed.next);
        onWritten();
      } catch {
        isUnwritten = true;
        log({ event: 'storage_failed' });
        if (changed.next.session === undefined) await slots.clear();
        hold(changed.unwritten ?? changed.next);
      }
      return true;
    });
  }

  return {
    current: () => current,
    read,
    accept,
    update,
    async rewrite() {
      if (isUnwritten) await update((held) => ({ next: { ...held, n: held.n + 1 } }));
      return !isUnwritten;
    },
  };
}
