import { createHashThreads, type HashThreads } from '../../../services/api/src/security/hash-threads.ts';

let threads: Promise<HashThreads> | undefined;

/**
 * Returns the hash threads of all apis of this process. A thread takes twice the CPU time of the rest of an api's start.
 * They end with the process.
 */
export async function shareHashThreads(...given: Parameters<typeof createHashThreads>): Promise<HashThreads> {
  threads ??= createHashThreads(...given);
  return { ...(await threads), close: async () => undefined };
}
