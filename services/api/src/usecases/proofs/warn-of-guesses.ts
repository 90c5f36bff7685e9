import { createAccountEvent, eventOrigin } from '@auth-account/messaging';
import type { UserDocument } from '@auth-account/stores/documents';
import type { GuessedSecret, SecondFactorStore } from '@auth-account/stores/second-factors';
import { type Commit, none } from '../../announcements/commit.ts';
import type { Ids } from '../../request/ids.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';

export interface WarnOfGuessesDeps {
  readonly secondFactors: Pick<SecondFactorStore, 'noteWarning'>;
  readonly commit: Commit;
  readonly ids: Pick<Ids, 'entityId'>;
  readonly now: () => Date;
}

/**
 * Mails the account's owner that the tries of the password or of the second factor are used up. An email address
 * without an account causes the same work, so that the time shows nothing.
 */
export type WarnOfGuesses = (
  secret: GuessedSecret,
  user: Pick<UserDocument, '_id' | 'locale'> | undefined,
  origin: RequestOrigin,
) => Promise<void>;

/** Milliseconds between two mails to one account. */
const gapMs = 86_400_000;

const warnings = {
  password: 'account.password_guessed',
  second_factor: 'account.second_factor_guessed',
} as const satisfies Record<GuessedSecret, string>;

/** Warns the owner. Each secret causes one mail per account in 24 hours, because nobody must fill the mailbox. */
export function createWarnOfGuesses({ secondFactors, commit, ids, now }: WarnOfGuessesDeps): WarnOfGuesses {
  return async (secret, user, origin) => {
    const user_id = user?._id ?? ids.entityId();
    const at = now();
    const due = new Date(at.getTime() - gapMs);
    const notified = { user_id, purpose: `${secret}_guessed`, locale: mailLocale(user, origin) } as const;
    const event = createAccountEvent('service.auth.events.notice', notified, eventOrigin(origin, at, ids));
    const warned = { event: warnings[secret], user_id } as const;
    await commit(
      {
        at,
        isCommitted: 'by event',
        ifClientLeft: 'commit',
        outlivesCaller: true,
        async work(session) {
          const isFirst = await secondFactors.noteWarning(user_id, secret, { at, due }, session);
          if (user === undefined) return { events: [{ event, isFor: 'nobody' }], audit: none, sessions: none };
          if (!isFirst) return { events: none, audit: none, sessions: none };
          return { events: [{ event, isFor: 'user' }], audit: [warned], sessions: none };
        },
      },
      origin,
    );
  };
}
