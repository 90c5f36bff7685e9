import type { Manifest } from '../manifest.ts';

/** What must be true of all that the chart makes. */
export interface Rule {
  /** As a sentence. */
  readonly title: string;
  /** Where it is not true, and how; empty where it is. */
  readonly find: (manifests: readonly Manifest[]) => string[];
}
