import type { AuthStorage, Channel, DeviceSignal, Locks } from '../../libs/client/src/platform/platform.ts';
import type { VirtualTime } from './client-time.ts';

/**
 * Fate of one access to the storage. `late` reports a failure although the value was written. `hangs` never settles, and
 * does nothing; `lands` takes effect after the client has given it up.
 */
export type StorageFate = 'works' | 'fails' | 'late' | 'slow' | 'hangs' | 'lands';

/** A running instance of the app. After its kill, nothing that it waits for ever comes. */
export interface Life {
  isOver: boolean;
  /**
   * Number of reads that must succeed before the instance surely sees the other tab's writes; 0 if the latest reads
   * did.
   */
  blindReads: number;
  /** True if the storage refused the app's latest write, so that its state is only in memory. */
  isRefused: boolean;
  /** Functions that close the app's connections and release its locks when it ends, as an operating system does. */
  readonly endings: Set<() => void>;
  /**
   * Work that a frozen page will do, in order, when it runs again; undefined while it runs. A frozen page keeps its
   * locks. It still finishes its accesses to the storage, because no page is frozen here in the milliseconds between
   * two of their steps (libs/client/README.md, "Tabs and storage").
   */
  frozen: (() => void)[] | undefined;
  /** Time at which the page was last thawed, in milliseconds. */
  thawedAt: number;
}

/** Does the work at once, or when the page is no longer frozen. */
export function whenRunning(life: Life, work: () => void): void {
  if (life.frozen) life.frozen.push(work);
  else work();
}

/** Resolves when the page runs. */
export const running = (life: Life) => new Promise<void>((resolve) => whenRunning(life, resolve));

export function thaw(life: Life, now: number): void {
  if (life.frozen === undefined) return;
  const heard = life.frozen;
  life.frozen = undefined;
  life.thawedAt = now;
  for (const work of heard) work();
}

/** Storage and switches that the tabs of an app share. */
export interface Device {
  readonly content: Map<string, string>;
  /** Entries that can never be read again; true if the storage says so. */
  readonly damaged: Map<string, boolean>;
  readonly fates: StorageFate[];
  /** True if another tab may write the end of an earlier session over a session that the storage refused or lost. */
  readonly mayLose: boolean;
  isLocked: boolean;
  isReadOnly: boolean;
  /** Failures and wipes so far. */
  faults: number;
  wipes: number;
  /** Time at which the storage was last written, in milliseconds. */
  writtenAt: number;
  readonly online: Switch;
  readonly active: Switch;
  storageOf(life: Life): AuthStorage;
  locksOf(life: Life): Locks;
  channelOf(life: Life): (name: string) => Channel;
  signalOf(life: Life, of: Switch): DeviceSignal;
}

export interface Switch {
  isOn: boolean;
  readonly listeners: Set<(value: boolean) => void>;
}

export const never = <T>() => new Promise<T>(() => undefined);

/** Called before and after the effect of each access to the platform, so that a course can strike between the two. */
export type Notify = () => void;

export function createDevice(time: VirtualTime, notify: Notify, mayLose: boolean): Device {
  const newSwitch = (): Switch => ({ isOn: true, listeners: new Set() });
  const device: Device = {
    content: new Map(),
    damaged: new Map(),
    fates: [],
    mayLose,
    isLocked: false,
    isReadOnly: false,
    faults: 0,
    wipes: 0,
    writtenAt: Number.NEGATIVE_INFINITY,
    online: newSwitch(),
    active: newSwitch(),
    storageOf: (life) => storageOf(device, life, time, notify),
    locksOf: createLocks(),
    channelOf: createChannels(time),
    signalOf: (life, of) => ({
      subscribe(listener) {
        const own = (value: boolean) => whenRunning(life, () => life.isOver || listener(value));
        of.listeners.add(own);
        own(of.isOn);
        return () => of.listeners.delete(own);
      },
    }),
  };
  return device;
}

function storageOf(device: Device, life: Life, time: VirtualTime, notify: Notify): AuthStorage {
  function fail(): never {
    device.faults += 1;
    throw new Error('the storage fails');
  }
  async function begin(): Promise<StorageFate> {
    notify();
    const fate = life.isOver ? 'works' : (device.fates.shift() ?? 'works');
    if (fate === 'hangs' || fate === 'lands') device.faults += 1;
    if (fate === 'hangs') return never();
    const ms = { slow: 700, lands: 12_000 }[fate as string];
    if (ms !== undefined) await new Promise<void>((resolve) => time.after(ms, resolve));
    return fate;
  }
  async function access<T>(isWrite: boolean, effect: () => T): Promise<T> {
    const fate = await begin();
    if (life.isOver) return never();
    const isRefused = device.isLocked || (isWrite && device.isReadOnly);
    if (isRefused || fate === 'fails') fail();
    const result = effect();
    notify();
    if (life.isOver) return never();
    if (isWrite && fate === 'late') fail();
    return result;
  }
  const { content } = device;
  async function look(key: string): Promise<string | undefined> {
    try {
      const value = await access(false, () => {
        const isLost = device.damaged.get(key);
        if (isLost !== undefined) throw Object.assign(new Error('it can not be decrypted'), { isLost });
        return content.get(key);
      });
      // An empty storage shows nothing of what the other tab has written.
      if (value) life.blindReads = Math.max(life.blindReads - 1, 0);
      return value;
    } catch (error) {
      // A record is read from two slots.
      life.blindReads = 2;
      throw error;
    }
  }
  return {
    get: look,
    async set(key, value) {
      // An empty value removes a record.
      if (value !== '') life.isRefused = true;
      await access(true, () => {
        device.damaged.delete(key);
        content.set(key, value);
      });
      device.writtenAt = time.now();
      if (value !== '') life.isRefused = false;
    },
    remove: (key) =>
      access(true, () => {
        device.damaged.delete(key);
        content.delete(key);
      }),
  };
}

interface Turn {
  readonly life: Life;
  readonly begin: () => void;
}

/** Creates Web Locks. A tab that ends loses its locks and its place in the queue. */
function createLocks(): Device['locksOf'] {
  const queues = new Map<string, Turn[]>();

  function leave(name: string, turn: Turn): void {
    const queue = queues.get(name) ?? [];
    const place = queue.indexOf(turn);
    if (place < 0) return;
    queue.splice(place, 1);
    if (place === 0) queue[0]?.begin();
  }

  return (life) => ({
    request: (name, { signal }, work) =>
      new Promise((resolve, reject) => {
        // A tab that has ended gets no lock, because nothing would release it.
        if (life.isOver) return;
        let hasBegun = false;
        const end = () => {
          life.endings.delete(end);
          leave(name, turn);
        };
        const turn: Turn = {
          life,
          begin() {
            hasBegun = true;
            // The lock is held until the work has settled, whether it succeeds or fails.
            void running(life)
              .then(work)
              .then(resolve, reject)
              .finally(() => end());
          },
        };
        life.endings.add(end);
        signal?.addEventListener('abort', () => {
          if (hasBegun) return;
          end();
          reject(new DOMException('aborted', 'AbortError'));
        });
        const queue = queues.get(name) ?? [];
        queues.set(name, queue);
        if (queue.push(turn) === 1) turn.begin();
      }),
  });
}

function createChannels(time: VirtualTime): Device['channelOf'] {
  const ports = new Map<Channel, Life>();
  return (life) => () => {
    const port: Channel = {
      onmessage: null,
      postMessage(data) {
        const text = JSON.stringify(data);
        const others = [...ports].filter(([other]) => other !== port);
        const deliver = () => {
          for (const [other, owner] of others) whenRunning(owner, () => other.onmessage?.({ data: JSON.parse(text) }));
        };
        if (!life.isOver) time.after(5, deliver);
      },
      close: () => void ports.delete(port),
    };
    life.endings.add(port.close);
    ports.set(port, life);
    return port;
  };
}
