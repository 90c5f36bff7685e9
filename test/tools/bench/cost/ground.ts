import type { SeededSession } from './session-seeds.ts';

/** Where an operation finds its accounts and sessions. */
export interface Ground {
  /** Addresses of as many accounts. */
  accounts(count: number): Promise<readonly string[]>;
  /** As many live sessions, which nothing else has used or will use. */
  sessions(count: number): Promise<readonly SeededSession[]>;
}
