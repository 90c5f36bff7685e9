import type { AuthStorage, Log } from '../platform/platform.ts';
import { parseRecord, type SessionRecord } from './session-record.ts';

/** The record in the storage. */
export interface Slots {
  /** Returns undefined if there is no record. Rejects if that can't be known now. */
  read(): Promise<SessionRecord | undefined>;
  write(record: SessionRecord): Promise<void>;
  /**
   * Removes the two earlier records after `refused` could not be written. It removes the older record first, and the
   * newer one only if that succeeded. If only the older record were left, its token would be taken for theft.
   */
  clear(refused: SessionRecord): Promise<void>;
}

/**
 * Creates two slots that are written in turn, so that the previous record stays whole until the next one is complete. A
 * write that is cut short costs one step and not the session. Writing a record without a session empties the other
 * slot, so that no secret survives a logout.
 */
export function createSlots(storage: AuthStorage, prefix: string, log: Log): Slots {
  const slotOf = (n: number) => `${prefix}.session.${n % 2}`;

  /** Empties a slot in one of two ways, because a storage that refuses one may accept the other. */
  async function empty(slot: string): Promise<boolean> {
    const emptied = storage.remove(slot).catch(() => storage.set(slot, ''));
    return emptied.then(
      () => true,
      () => {
        log({ event: 'storage_failed' });
        return false;
      },
    );
  }

  async function readNow(): Promise<SessionRecord | undefined> {
    const texts = await Promise.all([storage.get(slotOf(0)), storage.get(slotOf(1))]);
    const [even, odd] = texts.map(parseRecord);
    return even && odd && even.n > odd.n ? even : (odd ?? even);
  }

  let last: Promise<SessionRecord | undefined> = Promise.resolve(undefined);
  return {
    read() {
      // Reads run one after the other. Otherwise an earlier read could end last, and its old record would look like a
      // new one from another tab.
      last = last.then(readNow, readNow);
      return last;
    },
    async write(record) {
      await storage.set(slotOf(record.n), JSON.stringify(record));
      if (record.session === undefined) await empty(slotOf(record.n + 1));
    },
    async clear({ n }) {
      if (await empty(slotOf(n))) await empty(slotOf(n + 1));
    },
  };
}
