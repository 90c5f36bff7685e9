import { Worker } from 'node:worker_threads';
import type { Argon2Binding } from './argon2-binding.ts';
import type { BcryptBinding } from './bcrypt-binding.ts';

/** Kinds of work of a hash thread. */
export interface HashJobs {
  hash: Argon2Binding['hash'];
  verify: Argon2Binding['verify'];
  verifyBcrypt: BcryptBinding['verify'];
}

/** One job as it is sent to a hash thread, which has one at a time. */
export type HashJob = {
  [Kind in keyof HashJobs]: { readonly kind: Kind; readonly args: Parameters<HashJobs[Kind]> };
}[keyof HashJobs];

/** First message of a hash thread: its Argon2 binding, and the reason if it is not the faster one. */
export interface HashThreadHello {
  readonly argon2Name: string;
  readonly fallbackReason?: unknown;
}

/** The answer to a job. */
export type HashJobResult = { readonly value: unknown } | { readonly error: unknown };

/** A thread that hashes. */
export interface HashThread {
  readonly hello: HashThreadHello;
  /** Runs one job; the one before must have ended. Rejects if the thread dies or is ended before it is done. */
  run(job: HashJob): Promise<HashJobResult>;
  end(): Promise<unknown>;
}

/** Starts a thread and waits until it accepts jobs. `onExit` gets the error of which it died, if there is one. */
export async function startHashThread(onExit: (error?: unknown) => void): Promise<HashThread> {
  // Neither options nor NODE_OPTIONS: the thread must not load what is preloaded into the process (tracing), nor see
  // its secrets.
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
