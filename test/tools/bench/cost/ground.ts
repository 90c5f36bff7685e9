import type { SeededSession } from './session-seeds.ts';

/** Source of an operation's accounts and sessions. */
export interface Ground {
  /** Times that each session is refreshed, one after another. */
  readonly refreshesEach: number;
  /** Returns the addresses of that many accounts. */
  accounts(count: number): Promise<readonly string[]>;
  /** Returns that many live sessions, which nothing else has used or will use. */
  sessions(count: number): Promise<readonly SeededSession[]>;
}
