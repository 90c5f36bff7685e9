import type { Manifest } from '../manifest.ts';

/** A condition that every result of the chart must meet. */
export interface Rule {
  /** The condition, as a sentence. */
  readonly title: string;
  /** Returns the violations; empty if there are none. */
  readonly find: (manifests: readonly Manifest[]) => string[];
}
