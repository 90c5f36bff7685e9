import type { UserDocument } from '../documents.ts';

/** Only {@link presentUser} makes it, so no decision can be made about a document as it is stored. */
declare const isPresent: unique symbol;

/** An account as it counts. `due_totp`: the app of the second factor, if its removal is due but not yet carried out. */
export type PresentUser<U = UserDocument> = U & {
  readonly [isPresent]: true;
  readonly due_totp?: UserDocument['totp'];
};

/** Fields of the user's document that the second factor consists of. */
export const secondFactorFields = [
  'totp',
  'pending_totp',
  'recovery_codes',
  'trusted_devices',
  'guesses_warned_at',
] as const;

/**
 * Returns the account as it counts at that time. Every read of a store returns an account so: one that is due to be
 * erased is unknown, and a second factor whose removal is due is gone, even if no worker has removed it yet. Only the
 * worker's erasure and `authctl` read documents as they are stored.
 */
export function presentUser<U extends Pick<UserDocument, 'deletes_at' | 'totp'>>(
  user: U | null | undefined,
  at: Date,
): PresentUser<U> | undefined {
  const isDue = user?.deletes_at !== undefined && user.deletes_at <= at;
  return user == null || isDue ? undefined : (withoutDueFactor(user, at) as PresentUser<U>);
}

function withoutDueFactor<U extends Pick<UserDocument, 'totp'>>(user: U, at: Date) {
  const { totp } = user;
  if (totp?.removal === undefined || totp.removal.due_at > at) return user;
  const gone: readonly string[] = secondFactorFields;
  return { ...Object.fromEntries(Object.entries(user).filter(([name]) => !gone.includes(name))), due_totp: totp };
}
