import type { AccountCountStore } from '@auth-account/redis';
import type { EmailChangeStore, LapsedEmails } from '@auth-account/stores/email-changes';

export interface RemoveLapsedEmailsDeps {
  readonly emailChanges: Pick<EmailChangeStore, 'listLapsed' | 'findHolder' | 'removeFormer' | 'removeLapsedPending'>;
  readonly forgetKnown: AccountCountStore['forget'];
  readonly now: () => Date;
}

/**
 * Margin, in ms, for logins and confirmations that were under way when the email address lapsed, and for clocks that
 * differ.
 */
const graceMs = 60_000;

/** Limit for the accounts that are read at once. */
const batch = 100;

/**
 * Runs one round, which removes the email addresses that no code and no undo can restore any more, and forgets the
 * devices and networks of each one that no account has now.
 *
 * An email address is removed from its document last. So while its devices and networks may still be in Redis, the next
 * round and the erasure of the account can find the address. Every step can be repeated, so workers need no lease.
 */
export function createRemoveLapsedEmails({ emailChanges, forgetKnown, now }: RemoveLapsedEmailsDeps) {
  async function remove(lapsed: LapsedEmails): Promise<void> {
    for (const { email_key } of lapsed.former) {
      // If an account has the email address now, its devices and networks are in use. A new account starts without any:
      // see `Limits.registered`.
      if ((await emailChanges.findHolder(email_key, now())) === undefined) await forgetKnown([email_key]);
    }
    await emailChanges.removeFormer(lapsed);
  }

  return async (): Promise<void> => {
    const by = new Date(now().getTime() - graceMs);
    await emailChanges.removeLapsedPending(by);
    for (;;) {
      const found = await emailChanges.listLapsed(by, batch);
      for (const lapsed of found) await remove(lapsed);
      if (found.length < batch) return;
    }
  };
}
