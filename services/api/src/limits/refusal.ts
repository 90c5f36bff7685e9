import type { LimitRule } from '../audit/events.ts';

/** One limit that has been reached. */
export interface Refusal {
  readonly rule: LimitRule;
  /** Milliseconds until a new try makes sense. */
  readonly waitMs: number;
}
