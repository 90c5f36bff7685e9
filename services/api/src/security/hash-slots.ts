import type { ProcessLimits } from './process-limits.ts';

export interface HashSlotsInput {
  readonly limits: ProcessLimits;
  /** Configured number of hashes at once; 0: as many as the process has cores. */
  readonly concurrency: number;
  /** MiB for all hashes and their threads together; 0: half of the memory that the process may use. */
  readonly memoryMib: number;
  /** KiB of one hash. */
  readonly hashKib: number;
}

export interface HashSlots {
  readonly slots: number;
  /** MiB that all hashes and their threads together may take. */
  readonly memoryMib: number;
  /** True if not even one hash fits. One is made at a time nevertheless. */
  readonly isTooSmall: boolean;
}

/** KiB that a hash thread takes in addition to its hashes: 22 MiB as measured. */
const threadKib = 24 * 1_024;

/**
 * Returns how many password hashes may be made at once: at least one, no more than whole cores, since more gain
 * nothing, and no more than fit into memory.
 */
export function hashSlots({ limits, concurrency, memoryMib, hashKib }: HashSlotsInput): HashSlots {
  const memory = memoryMib || Math.floor(limits.memoryBytes / 2 / 1_048_576);
  const fitting = Math.floor((memory * 1_024) / (hashKib + threadKib));
  const wanted = concurrency || Math.floor(limits.cores);
  return { slots: Math.max(1, Math.min(wanted, fitting)), memoryMib: memory, isTooSmall: fitting < 1 };
}
