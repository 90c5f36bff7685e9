import { defaultDeadlineMs } from '@auth-account/stores';

/** Milliseconds for which the api waits for its stores. */
export interface Waits {
  /** A request, for its limits. After that they are counted in memory. */
  readonly limits: number;
  /** A request, for any other answer of Redis. */
  readonly redis: number;
  /** An answer, for the announcement of what it says (docs/specification/logout.md, "Logout"). */
  readonly announcement: number;
  /** A transaction, for the end of conflicts: no further attempt starts after that. */
  readonly transaction: number;
}

export const usualWaits: Waits = { limits: 250, redis: 1_000, announcement: 250, transaction: defaultDeadlineMs };
