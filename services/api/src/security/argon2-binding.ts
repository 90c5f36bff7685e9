/** Cost of one hash (OWASP Password Storage Cheat Sheet: 19456 KiB, 2 passes, 1 lane). */
export interface Argon2Cost {
  readonly memoryKib: number;
  readonly passes: number;
  readonly lanes: number;
}

/** Makes and verifies Argon2id hashes as PHC strings, with one of two bindings. */
export interface Argon2Binding {
  readonly name: string;
  hash(password: string, cost: Argon2Cost): Promise<string>;
  /** Throws if the string is not an Argon2 hash. */
  verify(phc: string, password: string): Promise<boolean>;
}

/**
 * Loads the Rust binding. It takes half the CPU time of the C binding, but is prebuilt for the usual platforms only. It
 * hashes on the calling thread (see `hash-thread.ts`).
 */
export async function loadNodeRsBinding(): Promise<Argon2Binding> {
  const { hashSync, verifySync } = await import('@node-rs/argon2');
  // The binding's `Algorithm` is a const enum, and `isolatedModules` forbids its use.
  const argon2id = 2;
  return {
    name: '@node-rs/argon2',
    hash: async (password, { memoryKib, passes, lanes }) =>
      hashSync(password, { algorithm: argon2id, memoryCost: memoryKib, timeCost: passes, parallelism: lanes }),
    verify: async (phc, password) => verifySync(phc, password),
  };
}

/**
 * Loads the C binding, which is compiled on installation if there is no binary. It hashes on libuv's threads, no matter
 * which thread calls it.
 */
export async function loadNodeBinding(): Promise<Argon2Binding> {
  const { default: argon2 } = await import('argon2');
  return {
    name: 'argon2',
    hash: (password, { memoryKib, passes, lanes }) =>
      argon2.hash(password, { type: argon2.argon2id, memoryCost: memoryKib, timeCost: passes, parallelism: lanes }),
    verify: (phc, password) => argon2.verify(phc, password),
  };
}

/** Loads the faster binding. If that fails, calls `onFallback` with the error and loads the other binding. */
export async function loadArgon2(onFallback?: (error: unknown) => void): Promise<Argon2Binding> {
  try {
    return await loadNodeRsBinding();
  } catch (error) {
    onFallback?.(error);
    return loadNodeBinding();
  }
}
