import { createStore, type Store } from '@auth-account/page/store.ts';

/** Pace of the stories, which the reader sets. */
export interface Pace {
  readonly isPaused: boolean;
  readonly isSlow: boolean;
}

export interface Director {
  readonly pace: Pick<Store<Pace>, 'read' | 'subscribe'>;
  setPace(pace: Partial<Pace>): void;
  /** Waits for the time that a caption takes to read, plus any time for which the stories are paused. */
  waitForReader(): Promise<void>;
}

/** Time to read a caption, in milliseconds, unless the page's URL has another: `?reading=300`. */
const readingMs = 1_800;
const slowerBy = 3;
const tickMs = 50;

export const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Returns the time to read a caption that the query of the page's URL sets, in milliseconds. */
export function readingTimeIn(query: string): number {
  const given = new URLSearchParams(query).get('reading');
  return given !== null && /^\d+$/.test(given) ? Number(given) : readingMs;
}

export function createDirector(captionMs: number): Director {
  const pace = createStore<Pace>({ isPaused: false, isSlow: false });
  return {
    pace,
    setPace: (changes) => pace.change((now) => ({ ...now, ...changes })),
    async waitForReader() {
      for (let left = captionMs; left > 0; ) {
        await sleep(tickMs);
        const { isPaused, isSlow } = pace.read();
        if (!isPaused) left -= isSlow ? tickMs / slowerBy : tickMs;
      }
    },
  };
}
