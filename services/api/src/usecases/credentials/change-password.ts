import type { ChangePasswordRequest, PasswordChangedResponse } from '@auth-account/contracts/http/account';
import { AppError } from '@auth-account/errors';
import { eventOrigin } from '@auth-account/messaging';
import { passwordChangedEvents } from '@auth-account/messaging/account-events';
import type { SessionStore, UserStore } from '@auth-account/stores';
import type { ChallengeStore } from '@auth-account/stores/challenges';
import { passwordFields } from '@auth-account/stores/credentials';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { Commit } from '../../announcements/commit.ts';
import type { Limits } from '../../limits/limits.ts';
import type { Ids } from '../../request/ids.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';
import type { PasswordHasher } from '../../security/password-hasher.ts';
import type { EndSessions } from '../sessions/end-sessions.ts';
import type { Reauthenticate } from '../step-up/reauthenticate.ts';

export interface ChangePasswordDeps {
  readonly users: Pick<UserStore, 'changeIfUnchanged' | 'hasPasswordHash'>;
  readonly sessions: Pick<SessionStore, 'findDevice'>;
  readonly challenges: Pick<ChallengeStore, 'endAll'>;
  readonly reauthenticate: Reauthenticate;
  readonly endSessions: EndSessions;
  readonly hasher: Pick<PasswordHasher, 'admit'>;
  readonly limits: Pick<Limits, 'changePassword'>;
  readonly commit: Commit;
  readonly ids: Pick<Ids, 'entityId'>;
  readonly now: () => Date;
}

/**
 * Changes the caller's password, and ends all other sessions and all open challenges in the same transaction. It writes
 * the user's document, like every login, so that no login with the old password is missed. The account forgets all
 * other devices.
 *
 * Each change ends the mailed codes, and a thief who knows the password could thus stop the mailbox's owner from
 * recovering the account. So only a few changes a day are allowed. A request with a wrong password does not count, or a
 * thief with only a session could use up the owner's changes.
 *
 * Raises the errors of {@link Reauthenticate}, even if the password was changed only after the check;
 * `ERR-RATE-LIMITED`; and `IAD_JWT_ACCESS_INVALID` if the caller's session has ended in between.
 */
export function createChangePassword(deps: ChangePasswordDeps) {
  const { users, sessions, challenges, reauthenticate, endSessions, hasher, limits, commit, ids, now } = deps;

  return async (
    input: ChangePasswordRequest,
    caller: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<PasswordChangedResponse['data']> => {
    const { user_id, sid: session_id } = caller;
    const user = await reauthenticate(input, caller, origin, 'password');
    await limits.changePassword(user, origin);
    const password_hash = await hasher.admit(origin, (turn) => turn.hash(input.new_password));
    const at = now();
    const end = { userId: user_id, reason: 'password_changed', at, spare: session_id } as const;
    const change = { user_id, reason: 'changed', locale: mailLocale(user, origin) } as const;
    const events = passwordChangedEvents(change, () => eventOrigin(origin, at, ids));
    const known_devices = await sessions.findDevice(session_id);
    const fields = { ...passwordFields(password_hash, user, at), known_devices };
    const { ended } = await commit(
      {
        ...endSessions.turnOf(user_id),
        at,
        isCommitted: () => users.hasPasswordHash(user_id, password_hash),
        // A user whose app has given up would not know which password is valid.
        ifClientLeft: 'abort',
        async work(session) {
          if (!(await users.changeIfUnchanged(user, fields, session)))
            throw new AppError('ERR-REAUTHENTICATION-FAILED');
          await challenges.endAll(user_id, at, session);
          const ended = await endSessions.revoke(end, origin, session);
          const audit = { event: 'account.password_changed', user_id, session_id } as const;
          return { ended, events, audit: [audit], sessions: [ended] };
        },
      },
      origin,
    );
    return { message: 'PASSWORD_CHANGED', sessions_ended: ended.sessionIds.length, timestamp: now().toISOString() };
  };
}
