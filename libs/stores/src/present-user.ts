import type { UserDocument } from './documents.ts';
import { secondFactorFields } from './second-factor-store.ts';
import { isDue } from './user-store.ts';

/**
 * Returns the account as it counts at that time. Whatever reads an account to decide about it reads it so: an account
 * that is due to be erased is unknown, and a second factor whose removal is due is gone, even if no worker has removed it
 * yet.
 */
export function presentUser<U extends Pick<UserDocument, 'deletes_at' | 'totp'>>(
  user: U | undefined,
  at: Date,
): U | undefined {
  return user === undefined || isDue(user, at) ? undefined : withoutDueFactor(user, at);
}

function withoutDueFactor<U extends Pick<UserDocument, 'totp'>>(user: U, at: Date): U {
  const { removal } = user.totp ?? {};
  if (removal === undefined || removal.due_at > at) return user;
  const gone: readonly string[] = secondFactorFields;
  return Object.fromEntries(Object.entries(user).filter(([name]) => !gone.includes(name))) as U;
}
