import { AppError } from '@auth-account/errors';

/** Thrown by a change that finds the account changed since it was read. */
export class ChangedMeanwhile extends Error {
  override readonly name = 'ChangedMeanwhile';
}

/** Limit for the tries of a change that conflicts with simultaneous changes of the account. */
const maxTries = 5;

/**
 * Reads the account and makes the change, and does both again while the change finds the account changed since it was
 * read. `first` is what has been read already. Raises `ERR-DEPENDENCY-UNAVAILABLE` after too many tries.
 */
export async function retryIfChanged<S, T>(
  read: () => Promise<S>,
  change: (seen: S) => Promise<T>,
  first?: S,
): Promise<T> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const seen = tries === 0 && first !== undefined ? first : await read();
    try {
      return await change(seen);
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile)) throw error;
    }
  }
  throw new AppError('ERR-DEPENDENCY-UNAVAILABLE', { retryAfterSeconds: 1 });
}
