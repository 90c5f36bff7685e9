import type { EmailChangeStore, LapsedEmails } from '@auth-account/stores/email-changes';
import type { ForgetPlaces } from './forget-places.ts';

export interface RemoveLapsedEmailsDeps {
  readonly emailChanges: Pick<EmailChangeStore, 'listLapsed' | 'findHolder' | 'removeFormer' | 'removeLapsedPending'>;
  readonly forgetPlaces: ForgetPlaces;
  readonly now: () => Date;
}

/** Milliseconds left to a login or a confirmation that was under way when the address lapsed, and for clocks. */
const graceMs = 60_000;

/** Accounts read at once. */
const batch = 100;

/**
 * Creates the function that runs one round: it removes the addresses that no code and no undo leads to any more, and
 * forgets the places of those that nobody has now.
 *
 * An address leaves its document last: while its places may still be in Redis, the next round finds it, and so does the
 * erasure of the account. Every step can be repeated, so workers need no lease.
 */
export function createRemoveLapsedEmails({ emailChanges, forgetPlaces, now }: RemoveLapsedEmailsDeps) {
  async function remove(lapsed: LapsedEmails): Promise<void> {
    for (const { email_key } of lapsed.former) {
      // Places of the account that has it now are in use. A new one has begun with none: `Limits.registered`.
      if ((await emailChanges.findHolder(email_key, now())) === undefined) await forgetPlaces([email_key]);
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
