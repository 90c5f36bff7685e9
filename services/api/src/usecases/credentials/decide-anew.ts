import { AppError } from '@auth-account/errors';
import type { UserStore } from '@auth-account/stores';
import type { UserDocument } from '@auth-account/stores/documents';
import { ChangedMeanwhile } from '../codes/change-by-code.ts';

export interface DecideAnewDeps {
  readonly users: Pick<UserStore, 'find'>;
}

/** Changes an account's ways in. `change` throws {@link ChangedMeanwhile} if the account was changed since it was read. */
export type DecideAnew = (
  proved: UserDocument,
  change: (user: UserDocument) => Promise<unknown>,
) => Promise<UserDocument>;

/** Limit for the tries of a change that conflicts with simultaneous changes of the account. */
const mostTries = 5;

/**
 * Creates the frame of a removal of a way in. Of two removals at once the second is decided anew, so that they cannot
 * both take the last way. It returns the account as the change has read it.
 *
 * Raises `ERR-REAUTHENTICATION-FAILED` if the password or the address was changed since the proof, and
 * `ERR-DEPENDENCY-UNAVAILABLE` after too many tries.
 */
export function createDecideAnew({ users }: DecideAnewDeps): DecideAnew {
  return async (proved, change) => {
    let user: UserDocument | undefined = proved;
    for (let tries = 0; tries < mostTries; tries += 1) {
      if (user === undefined || !isProved(proved, user)) throw new AppError('ERR-REAUTHENTICATION-FAILED');
      try {
        await change(user);
        return user;
      } catch (error) {
        if (!(error instanceof ChangedMeanwhile)) throw error;
      }
      user = await users.find(proved._id);
    }
    throw new AppError('ERR-DEPENDENCY-UNAVAILABLE', { retryAfterSeconds: 1 });
  };
}

/** Returns true if the password and the address are those of the proof. Other ways in may have been changed. */
function isProved(proved: UserDocument, { email_key, password_changed_at }: UserDocument): boolean {
  return proved.email_key === email_key && proved.password_changed_at?.getTime() === password_changed_at?.getTime();
}
