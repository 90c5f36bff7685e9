import type { SeededSession } from './session-seeds.ts';

/** Source of an operation's accounts and sessions. */
export interface Ground {
  /** Returns the addresses of that many accounts. */
  accounts(count: number): Promise<readonly string[]>;
  /** Returns that many live sessions, which nothing else has used or will use. */
  sessions(count: number): Promise<readonly SeededSession[]>;
}
