/** Verifies bcrypt hashes that were imported. The service itself creates no bcrypt hashes. */
export interface BcryptBinding {
  /** Compares the bytes of the password unchanged. Only the first 72 bytes count for bcrypt. */
  verify(hash: string, password: string): Promise<boolean>;
}

/**
 * `$2a$`, `$2b$` and `$2y$` name the same algorithm. `$2x$` names a faulty algorithm, whose hashes cannot be verified.
 */
const bcryptPattern = /^\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}$/;

export function isBcryptHash(stored: string): boolean {
  return bcryptPattern.test(stored);
}

/**
 * Creates the binding. Its code is loaded for the first bcrypt hash, so a service without such hashes needs no binary.
 * It compares on the calling thread (see `hash-thread.ts`).
 */
export function createBcryptBinding(): BcryptBinding {
  return {
    async verify(hash, password) {
      const { verifySync } = await import('@node-rs/bcrypt');
      return verifySync(password, hash);
    },
  };
}
