import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import type { Logger } from '@auth-account/telemetry';
import type { Argon2Cost } from './argon2-binding.ts';
import { createHashGate, type HashGate } from './hash-gate.ts';
import type { HashMetrics } from './hash-metrics.ts';
import { createHashThreads } from './hash-threads.ts';
import { createPasswordHasher, type PasswordHasher } from './password-hasher.ts';
import { type ProcessLimits, readProcessLimits } from './process-limits.ts';

export interface OpenHasherOptions {
  readonly cost: Argon2Cost;
  /** Limit for simultaneous hashes; 0 means as many as the process has cores. */
  readonly concurrency: number;
  /** MiB for all hashes and their threads together; 0 means half of the memory that the process may use. */
  readonly memoryMib: number;
  readonly queueLimit: number;
  /** Limit for the milliseconds between the receipt of a request and the start of its hash. */
  readonly queueTimeoutMs: number;
  readonly metrics: HashMetrics;
  readonly logger: Logger;
  /** Override for tests. */
  readonly createThreads?: typeof createHashThreads | undefined;
}

/** A hasher whose threads have been started. */
export interface OpenedHasher {
  readonly hasher: PasswordHasher;
  /** The name of the Argon2 binding that was loaded. */
  readonly argon2Name: string;
  /** Ends the hash threads. */
  close(): Promise<void>;
}

/** Starts the hash threads. A gate lets as many hashes run at once as the process has cores and memory for. */
export async function openHasher(options: OpenHasherOptions): Promise<OpenedHasher> {
  const { cost, logger, createThreads = createHashThreads } = options;
  const { argon2, bcrypt, close } = await createThreads({
    onFallback: (error) => logger.warn({ err: error }, 'the faster Argon2 binding does not load'),
    onDeath: (error) => logger.error({ err: error }, 'a hash thread died'),
  });
  const hasher = await createPasswordHasher({ argon2, bcrypt, gate: openGate(options), cost });
  return { hasher, argon2Name: argon2.name, close };
}

function openGate({ cost, metrics, logger, ...options }: OpenHasherOptions): HashGate {
  const { concurrency, queueLimit, queueTimeoutMs: waitMs } = options;
  const machine = { cores: availableParallelism(), memoryBytes: totalmem() };
  const limits = readProcessLimits({ readText: findText, machine });
  const hashKib = cost.memoryKib;
  const { slots, memoryMib, isTooSmall } = hashSlots({ limits, concurrency, memoryMib: options.memoryMib, hashKib });
  logger.info({ slots, memoryMib, cores: limits.cores, queue: queueLimit }, 'hash gate');
  if (isTooSmall) logger.warn({ memoryMib, hashKib }, 'a password hash needs more memory than allowed');
  const gate = createHashGate({
    slots,
    queueLimit,
    waitMs,
    onShed: (reason) => metrics.hashesShed.inc({ reason }),
    onDone({ waitedMs, tookMs }) {
      metrics.hashWait.observe(waitedMs / 1_000);
      metrics.hashDuration.observe(tookMs / 1_000);
    },
  });
  metrics.hashSlots.set(slots);
  metrics.observeHashLoad(() => gate);
  return gate;
}

/**
 * Returns the text of a file; undefined if it cannot be read, for example because it belongs to the other cgroup
 * version. The read may block, because the kernel's files are small and in memory.
 */
function findText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

export interface HashSlotsInput {
  readonly limits: ProcessLimits;
  /** Configured limit for simultaneous hashes; 0 means as many as the process has cores. */
  readonly concurrency: number;
  /** MiB for all hashes and their threads together; 0 means half of the memory that the process may use. */
  readonly memoryMib: number;
  /** KiB that one hash takes. */
  readonly hashKib: number;
}

export interface HashSlots {
  readonly slots: number;
  /** Limit for the memory of all hashes and their threads together, in MiB. */
  readonly memoryMib: number;
  /** True if the memory is too small for even one hash. Hashes are then made one at a time. */
  readonly isTooSmall: boolean;
}

/**
 * KiB that are counted for a hash thread in addition to its hash. A thread takes 11 MiB in an image, and 20 to 22 if it
 * runs from source.
 */
const threadKib = 24 * 1_024;

/**
 * Returns how many password hashes may be made at once: the configured number or else the number of whole cores, but no
 * more than fit into memory, and at least one.
 */
export function hashSlots({ limits, concurrency, memoryMib, hashKib }: HashSlotsInput): HashSlots {
  const memory = memoryMib || Math.floor(limits.memoryBytes / 2 / 1_048_576);
  const fitting = Math.floor((memory * 1_024) / (hashKib + threadKib));
  const wanted = concurrency || Math.floor(limits.cores);
  return { slots: Math.max(1, Math.min(wanted, fitting)), memoryMib: memory, isTooSmall: fitting < 1 };
}
