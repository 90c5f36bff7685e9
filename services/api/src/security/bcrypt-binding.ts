/** bcrypt, for hashes that were made elsewhere; none are made here. */
export interface BcryptBinding {
  /** Compares the password's bytes as they are with the hash; only the first 72 count, as ever with bcrypt. */
  verify(hash: string, password: string): Promise<boolean>;
}

/**
 * `$2a$`, `$2b$` and `$2y$` name one algorithm; `$2x$` names a faulty one, and what remains of it cannot be verified.
 */
const bcryptPattern = /^\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}$/;

export function isBcryptHash(stored: string): boolean {
  return bcryptPattern.test(stored);
}

/**
 * Its code is loaded with the first such hash: if there is none, its binary need not be there. It compares on the
 * thread that calls it: see `hash-thread.ts`.
 */
export function createBcryptBinding(): BcryptBinding {
  return {
    async verify(hash, password) {
      const { verifySync } = await import('@node-rs/bcrypt');
      return verifySync(password, hash);
    },
  };
}
