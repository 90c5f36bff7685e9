import type { SeededSession } from './session-seeds.ts';

/** Source of an operation's accounts and sessions. */
export interface TestBed {
  /** Number of refreshes of each session, one after another. */
  readonly refreshesEach: number;
  /** Returns the addresses of `count` accounts. */
  accounts(count: number): Promise<readonly string[]>;
  /** Returns `count` live sessions, which nothing else has used or will use. */
  sessions(count: number): Promise<readonly SeededSession[]>;
}
