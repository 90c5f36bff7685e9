import type { AuthStorage, Log } from '../platform/platform.ts';
import { parseRecord, type SessionRecord } from './session-record.ts';

/** The record in the storage. */
export interface Slots {
  /** Returns undefined if there is none. Rejects if that can't be known now. */
  read(): Promise<SessionRecord | undefined>;
  write(record: SessionRecord): Promise<void>;
  /**
   * Removes the two records before that one, which could not be written: the older first, and the newer only if the older
   * is gone. The token of an older one that is left alone would be taken for theft.
   */
  clear(refused: SessionRecord): Promise<void>;
}

/**
 * Two slots are written in turn, so that the record before stays whole until the next one is: a write that is cut short
 * costs one step and not the session. A record without a session empties the other slot: no secret outlives a logout.
 */
export function createSlots(storage: AuthStorage, prefix: string, log: Log): Slots {
  const slotOf = (n: number) => `${prefix}.session.${n % 2}`;

  /** Empties a slot in one of two ways, since a storage that refuses one may accept the other. */
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
      // One after the other: an earlier record would seem to be another tab's later one if it came after that.
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
