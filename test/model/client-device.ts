import type { AuthStorage, Channel, DeviceSignal, Locks } from '../../libs/client/src/platform/platform.ts';
import type { VirtualTime } from './client-time.ts';

/** What becomes of one access to the storage. `late`: a failure is told, yet it was written. */
export type StorageFate = 'works' | 'fails' | 'late' | 'slow';

/** A running instance of the app, until it is killed: then nothing that it waits for ever comes. */
export interface Life {
  isOver: boolean;
  /** Reads that must succeed before it can be said to see what the other tab has written; 0 if the latest have. */
  blindReads: number;
  /** Its latest write was refused: what it knows is in memory only. */
  isRefused: boolean;
  /** Runs what an ending must: the operating system closes connections and releases locks. */
  readonly endings: Set<() => void>;
  /**
   * What a frozen page will hear when it goes on, in order; undefined while it runs. It keeps its locks. What it does with
   * its storage it still ends: in the milliseconds between two steps of that no page is frozen here
   * (libs/client/README.md, "Tabs and storage").
   */
  frozen: (() => void)[] | undefined;
  /** When it went on, in milliseconds. */
  thawedAt: number;
}

/** Does the work when the page runs: at once, or when it is no longer frozen. */
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

/** What the tabs of an app share. */
export interface Device {
  readonly content: Map<string, string>;
  readonly fates: StorageFate[];
  /** Another tab may write the end of an earlier session in place of a session that the storage has refused or lost. */
  readonly mayLose: boolean;
  isLocked: boolean;
  isReadOnly: boolean;
  /** Failures and wipes so far. */
  faults: number;
  wipes: number;
  /** When it was written last, in milliseconds. */
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

/** Each access to the platform is told before and after its effect, so that a course can strike between the two. */
export type Tell = () => void;

export function createDevice(time: VirtualTime, tell: Tell, mayLose: boolean): Device {
  const newSwitch = (): Switch => ({ isOn: true, listeners: new Set() });
  const device: Device = {
    content: new Map(),
    fates: [],
    mayLose,
    isLocked: false,
    isReadOnly: false,
    faults: 0,
    wipes: 0,
    writtenAt: Number.NEGATIVE_INFINITY,
    online: newSwitch(),
    active: newSwitch(),
    storageOf: (life) => storageOf(device, life, time, tell),
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

function storageOf(device: Device, life: Life, time: VirtualTime, tell: Tell): AuthStorage {
  function fail(): never {
    device.faults += 1;
    throw new Error('the storage fails');
  }
  async function begin(): Promise<StorageFate> {
    tell();
    const fate = life.isOver ? 'works' : (device.fates.shift() ?? 'works');
    if (fate === 'slow') await new Promise<void>((resolve) => time.after(700, resolve));
    return fate;
  }
  async function access<T>(isWrite: boolean, effect: () => T): Promise<T> {
    const fate = await begin();
    if (life.isOver) return never();
    const isRefused = device.isLocked || (isWrite && device.isReadOnly);
    if (isRefused || fate === 'fails') fail();
    const result = effect();
    tell();
    if (life.isOver) return never();
    if (isWrite && fate === 'late') fail();
    return result;
  }
  const { content } = device;
  async function look(key: string): Promise<string | undefined> {
    try {
      const value = await access(false, () => content.get(key));
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
      await access(true, () => content.set(key, value));
      device.writtenAt = time.now();
      if (value !== '') life.isRefused = false;
    },
    remove: (key) => access(true, () => void content.delete(key)),
  };
}

interface Turn {
  readonly life: Life;
  readonly begin: () => void;
}

/** Web Locks: a tab that ends loses its locks and its place in the queue. */
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
        // A tab that has ended asks for nothing any more, and nobody would release it.
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
            // The lock is held until the work has ended, whatever becomes of it.
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
