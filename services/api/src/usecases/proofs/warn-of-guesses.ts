import { createAccountEvent, eventOrigin } from '@auth-account/messaging';
import type { UserDocument } from '@auth-account/stores/documents';
import type { SecondFactorStore } from '@auth-account/stores/second-factors';
import { type Commit, none } from '../../announcements/commit.ts';
import type { Ids } from '../../request/ids.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';

export interface WarnOfGuessesDeps {
  readonly secondFactors: Pick<SecondFactorStore, 'noteWarning'>;
  readonly commit: Commit;
  readonly ids: Pick<Ids, 'entityId'>;
  readonly now: () => Date;
}

/** Mails the account's owner that somebody who knows the password guesses the second factor. */
export type WarnOfGuesses = (user: UserDocument, origin: RequestOrigin) => Promise<void>;

/** Milliseconds between two mails to one account. */
const gapMs = 86_400_000;

/**
 * Creates the function that warns the owner when strangers guess a second factor: they have passed the first step of a
 * login. It sends one mail per account in 24 hours, because a stranger must not fill the mailbox.
 */
export function createWarnOfGuesses({ secondFactors, commit, ids, now }: WarnOfGuessesDeps): WarnOfGuesses {
  return async (user, origin) => {
    const user_id = user._id;
    const at = now();
    const due = new Date(at.getTime() - gapMs);
    const told = { user_id, purpose: 'second_factor_guessed', locale: mailLocale(user, origin) } as const;
    const notice = createAccountEvent('service.auth.events.notice', told, eventOrigin(origin, at, ids));
    await commit(
      {
        at,
        isCommitted: 'by event',
        ifClientLeft: 'commit',
        async work(session) {
          const isFirst = await secondFactors.noteWarning(user_id, { at, due }, session);
          const warned = { event: 'account.second_factor_guessed', user_id } as const;
          return isFirst
            ? { events: [notice], audit: [warned], sessions: none }
            : { events: none, audit: none, sessions: none };
        },
      },
      origin,
    );
  };
}
