import type { Log } from '../platform/platform.ts';
import { emptyEntry, type SafeStorage } from '../platform/safe-storage.ts';
import { noRecord, parseRecord, type SessionRecord } from './session-record.ts';

/** The record in the storage. */
export interface StorageSlots {
  /** Returns undefined if there is no record. Rejects if that can't be known now. */
  read(): Promise<SessionRecord | undefined>;
  write(record: SessionRecord): Promise<void>;
  /**
   * Removes the two earlier records after `refused` could not be written. It removes the older record first, and the
   * newer one only if that succeeded. If only the older record were left, its token would be taken for theft.
   */
  clear(refused: SessionRecord): Promise<void>;
  /** Both slots count as empty from now on, whatever they hold. */
  forget(): void;
}

/** The record of a slot that can never be read again. */
const lostRecord: SessionRecord = { ...noRecord, reason: 'storage_lost' };

/**
 * Creates two slots that are written in turn, so that the previous record stays whole until the next one is complete. A
 * write that is cut short costs one step and not the session. Writing a record without a session empties the other
 * slot, so that no secret survives a logout.
 */
export function createStorageSlots(storage: SafeStorage, prefix: string, log: Log): StorageSlots {
  const slotOf = (n: number) => `${prefix}.session.${n % 2}`;

  const empty = (n: number) => emptyEntry(storage, slotOf(n), log);

  async function readNow(): Promise<SessionRecord | undefined> {
    const texts = await Promise.all([storage.get(slotOf(0)), storage.get(slotOf(1))]);
    const [even, odd] = texts.map((text) => (text === null ? lostRecord : parseRecord(text)));
    return even && odd && even.n > odd.n ? even : (odd ?? even);
  }

  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<SessionRecord | undefined> | undefined;

  function begin() {
    running = next ?? running;
    next = undefined;
    return readNow();
  }

  return {
    read() {
      // Reads run one after the other. Otherwise an earlier read could end last, and its old record would look like a
      // new one from another tab. Callers who wait for the same turn share its read, so that no queue grows while the
      // storage hangs.
      next ??= running.then(begin, begin);
      return next;
    },
    async write(record) {
      await storage.set(slotOf(record.n), JSON.stringify(record));
      if (record.session === undefined) await empty(record.n + 1);
    },
    async clear({ n }) {
      if (await empty(n)) await empty(n + 1);
    },
    forget() {
      for (const n of [0, 1]) storage.forget(slotOf(n));
    },
  };
}
