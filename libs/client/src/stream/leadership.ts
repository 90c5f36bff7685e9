import type { Platform } from '../platform/platform.ts';

/** Decides which tab of a page holds the stream, because two tabs would keep taking it from each other. */
export interface Leadership {
  /** Resolves to true when this tab leads, and to false if it resigned before that. */
  lead(): Promise<boolean>;
  /** Returns true if this tab leads and has not resigned since. */
  leads(): boolean;
  /** Lets another tab lead. */
  resign(): void;
}

/** Makes one tab the leader. It holds a lock until it resigns or ends. Without locks, every client leads. */
export function createLeadership({ locks }: Pick<Platform, 'locks'>, prefix: string): Leadership {
  let turn: { readonly begun: Promise<boolean>; readonly end: () => void } | undefined;
  let isHeld = !locks;

  function takeTurn(all: NonNullable<Platform['locks']>) {
    const wait = new AbortController();
    let release = () => wait.abort();
    const begun = new Promise<boolean>((resolve) => {
      const hold = () =>
        new Promise<void>((done) => {
          release = done;
          resolve(true);
        });
      const ask = async () => all.request(`${prefix}.stream`, { signal: wait.signal }, hold);
      // A page may have locks that refuse. Each of its tabs then leads, as without locks.
      ask().catch(() => resolve(!wait.signal.aborted));
    });
    return { begun, end: () => release() };
  }

  return {
    async lead() {
      if (!locks) return true;
      turn ??= takeTurn(locks);
      const own = turn;
      if (!(await own.begun) || own !== turn) return false;
      isHeld = true;
      return true;
    },
    leads: () => isHeld,
    resign() {
      turn?.end();
      turn = undefined;
      isHeld = !locks;
    },
  };
}
