import type { AccountResponse, ChangeAccountRequest } from '@auth-account/contracts/http/account';
import { AppError } from '@auth-account/errors';
import type { UserStore } from '@auth-account/stores';
import { describeAccount } from '@auth-account/stores/account-export';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import { type Commit, none } from '../../announcements/commit.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';

export interface ChangeAccountDeps {
  readonly users: Pick<UserStore, 'changeProfile'>;
  readonly commit: Commit;
  readonly now: () => Date;
}

/** Changes the caller's name or language. Raises `IAD_JWT_ACCESS_INVALID` if the account is gone. */
export function createChangeAccount({ users, commit, now }: ChangeAccountDeps) {
  return async (
    { display_name, locale }: ChangeAccountRequest,
    { user_id, sid: session_id }: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<AccountResponse['data']> => {
    const at = now();
    const { user } = await commit(
      {
        at,
        isCommitted: 'by event',
        ifClientLeft: 'commit',
        async work(session) {
          const changed = await users.changeProfile(user_id, { display_name, locale }, at, session);
          if (changed === undefined) throw new AppError('IAD_JWT_ACCESS_INVALID');
          const audit = { event: 'account.changed', user_id, session_id } as const;
          return { user: changed, events: none, audit: [audit], sessions: none };
        },
      },
      origin,
    );
    return { ...describeAccount(user, at), timestamp: at.toISOString() };
  };
}
