/** ISO 8601, UTC. */
export type Time = string;

/** A part of a list. `next` is the cursor of the next part (`?after=`), null at the end. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}
