import { Worker } from 'node:worker_threads';
import type { Argon2Binding } from './argon2-binding.ts';
import type { BcryptBinding } from './bcrypt-binding.ts';

/** Kinds of work of a hash thread. */
export interface HashJobs {
  hash: Argon2Binding['hash'];
  verify: Argon2Binding['verify'];
  verifyBcrypt: BcryptBinding['verify'];
}

/** One job as it is sent to a hash thread. A thread has one job at a time. */
export type HashJob = {
  [Kind in keyof HashJobs]: { readonly kind: Kind; readonly args: Parameters<HashJobs[Kind]> };
}[keyof HashJobs];

/**
 * First message of a hash thread. It names the thread's Argon2 binding and, if that is not the faster one, the reason.
 */
export interface HashThreadHello {
  readonly argon2Name: string;
  readonly fallbackReason?: unknown;
}

/** The answer to a job. */
export type HashJobResult = { readonly value: unknown } | { readonly error: unknown };

/** A thread that hashes. */
export interface HashThread {
  readonly hello: HashThreadHello;
  /** Runs one job. The previous job must have ended. Rejects if the thread dies or is ended before the job is done. */
  run(job: HashJob): Promise<HashJobResult>;
  end(): Promise<unknown>;
}

/** Starts a thread and waits until it accepts jobs. `onExit` gets the error if an error ended the thread. */
export async function startHashThread(onExit: (error?: unknown) => void): Promise<HashThread> {
  // The thread gets neither the process's options nor its environment. It must not load the modules that are preloaded
  // into the process (tracing), nor see the process's secrets.
  const options = { execArgv: [], env: {}, name: 'hash' };
  const worker = new Worker(new URL('./hash-thread.ts', import.meta.url), options);
  let waiting: PromiseWithResolvers<unknown> | undefined;
  let isGone = false;
  let death: unknown;
  worker.on('message', (message: unknown) => {
    worker.unref();
    waiting?.resolve(message);
  });
  worker.on('error', (error) => {
    death = error;
  });
  worker.once('exit', () => {
    isGone = true;
    waiting?.reject(endOf(death));
    onExit(death);
  });

  /** Returns the next message. The thread keeps the process alive only while a call waits for it. */
  function answer<T>(): Promise<T> {
    if (isGone) return Promise.reject(endOf(death));
    waiting = Promise.withResolvers();
    worker.ref();
    return waiting.promise as Promise<T>;
  }

  return {
    hello: await answer<HashThreadHello>(),
    run(job) {
      worker.postMessage(job);
      return answer<HashJobResult>();
    },
    end: () => worker.terminate(),
  };
}

function endOf(death: unknown): unknown {
  return death ?? new Error('the hash thread was ended');
}
