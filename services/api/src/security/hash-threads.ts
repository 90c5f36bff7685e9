import type { Argon2Binding } from './argon2-binding.ts';
import type { BcryptBinding } from './bcrypt-binding.ts';
import { type HashJob, type HashJobs, type HashThread, startHashThread } from './start-hash-thread.ts';

/** Runs Argon2 and bcrypt on separate threads, which yield to all other work that wants a core. */
export interface HashThreads {
  readonly argon2: Argon2Binding;
  readonly bcrypt: BcryptBinding;
  /** Ends the threads. A job that is under way is rejected. */
  close(): Promise<void>;
}

export interface HashThreadsOptions {
  /** Called with the reason if the faster Argon2 binding did not load. */
  readonly onFallback: (error: unknown) => void;
  /** Called if a thread died. Its job is rejected with the same error. */
  readonly onDeath: (error: unknown) => void;
}

/**
 * Starts the first hash thread. Each further thread starts when a job finds all others busy, and stays. So the number
 * of threads is the largest number of simultaneous jobs so far, which the hash gate limits. If a thread dies, its job
 * fails, and a new thread starts when it is needed.
 */
export async function createHashThreads({ onFallback, onDeath }: HashThreadsOptions): Promise<HashThreads> {
  const threads = new Set<HashThread>();
  const idle = new Set<HashThread>();

  async function start(): Promise<HashThread> {
    let thread: HashThread | undefined;
    const forget = (error?: unknown) => {
      if (thread !== undefined) threads.delete(thread);
      if (thread !== undefined) idle.delete(thread);
      if (error !== undefined) onDeath(error);
    };
    thread = await startHashThread(forget);
    threads.add(thread);
    return thread;
  }

  async function run<Kind extends keyof HashJobs>(
    kind: Kind,
    ...args: Parameters<HashJobs[Kind]>
  ): Promise<Awaited<ReturnType<HashJobs[Kind]>>> {
    const [free] = idle;
    if (free !== undefined) idle.delete(free);
    const thread = free ?? (await start());
    const result = await thread.run({ kind, args } as HashJob);
    idle.add(thread);
    if ('error' in result) throw result.error;
    return result.value as Awaited<ReturnType<HashJobs[Kind]>>;
  }

  const first = await start();
  idle.add(first);
  const { argon2Name, fallbackReason } = first.hello;
  if (fallbackReason !== undefined) onFallback(fallbackReason);
  return {
    argon2: {
      name: argon2Name,
      hash: (...args) => run('hash', ...args),
      verify: (...args) => run('verify', ...args),
    },
    bcrypt: { verify: (...args) => run('verifyBcrypt', ...args) },
    async close() {
      await Promise.all(Array.from(threads, (thread) => thread.end()));
    },
  };
}
