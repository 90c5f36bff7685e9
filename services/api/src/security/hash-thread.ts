import { getPriority, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { loadArgon2 } from './argon2-binding.ts';
import { createBcryptBinding } from './bcrypt-binding.ts';
import type { HashJob, HashJobResult, HashThreadHello } from './start-hash-thread.ts';

/**
 * With this value a hash gets a tenth of a core that the event loop uses too, and the whole of an idle core (ADR 0006).
 */
const niceness = 10;

// On Linux, 0 means the calling thread; elsewhere it means the whole process. The niceness of a thread may not be
// lowered.
if (process.platform === 'linux' && getPriority(0) < niceness) setPriority(0, niceness);

let fallbackReason: unknown;
const argon2 = await loadArgon2((error) => {
  fallbackReason = error;
});
const bcrypt = createBcryptBinding();

function run(job: HashJob): Promise<string | boolean> {
  switch (job.kind) {
    case 'hash':
      return argon2.hash(...job.args);
    case 'verify':
      return argon2.verify(...job.args);
    case 'verifyBcrypt':
      return bcrypt.verify(...job.args);
  }
}

async function resultOf(job: HashJob): Promise<HashJobResult> {
  try {
    return { value: await run(job) };
  } catch (error) {
    return { error };
  }
}

parentPort?.on('message', async (job: HashJob) => parentPort?.postMessage(await resultOf(job)));
parentPort?.postMessage({ argon2Name: argon2.name, fallbackReason } satisfies HashThreadHello);
