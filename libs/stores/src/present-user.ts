import type { UserDocument } from './documents.ts';
import { secondFactorFields } from './second-factor-store.ts';
import { isDue } from './user-store.ts';

/** An account as it counts. `due_totp`: the app of the second factor, if its removal is due but not yet carried out. */
export type PresentUser<U = UserDocument> = U & { readonly due_totp?: UserDocument['totp'] };

/**
 * Returns the account as it counts at that time. Whatever reads an account to decide about it reads it so: an account
 * that is due to be erased is unknown, and a second factor whose removal is due is gone, even if no worker has removed it
 * yet.
 */
export function presentUser<U extends Pick<UserDocument, 'deletes_at' | 'totp'>>(
  user: U | undefined,
  at: Date,
): PresentUser<U> | undefined {
  return user === undefined || isDue(user, at) ? undefined : withoutDueFactor(user, at);
}

function withoutDueFactor<U extends Pick<UserDocument, 'totp'>>(user: U, at: Date): PresentUser<U> {
  const { removal } = user.totp ?? {};
  if (removal === undefined || removal.due_at > at) return user;
  const gone: readonly string[] = secondFactorFields;
  const left = Object.fromEntries(Object.entries(user).filter(([name]) => !gone.includes(name))) as U;
  return { ...left, due_totp: user.totp };
}
