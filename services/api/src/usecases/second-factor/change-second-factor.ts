import type { AccountEventOf } from '@auth-account/contracts/events';
import type { AppError } from '@auth-account/errors';
import { eventOrigin } from '@auth-account/messaging';
import { secondFactorChangedEvents } from '@auth-account/messaging/account-events';
import type { PresentUser, UserStore } from '@auth-account/stores';
import type { ChallengeStore } from '@auth-account/stores/challenges';
import { nextChangeOfMethods } from '@auth-account/stores/credentials';
import type { UserDocument } from '@auth-account/stores/documents';
import type { ChangedFields } from '@auth-account/stores/method-removals';
import { type Commit, none } from '../../announcements/commit.ts';
import type { AuditEvent } from '../../audit/events.ts';
import type { Ids } from '../../request/ids.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';
import type { EndSessions } from '../sessions/end-sessions.ts';

export interface ChangeSecondFactorDeps {
  readonly users: Pick<UserStore, 'changeIfUnchanged'>;
  readonly challenges: Pick<ChallengeStore, 'endAll'>;
  readonly endSessions: EndSessions;
  readonly commit: Commit;
  readonly ids: Pick<Ids, 'entityId'>;
}

/** A change of an account's second factor, by one of its sessions. */
export interface SecondFactorChange {
  /** The account as the check of the request has read it. */
  readonly user: PresentUser;
  readonly sessionId: string;
  readonly at: Date;
  readonly change: AccountEventOf<'service.auth.events.second_factor_changed'>['data']['change'];
  /** New recovery codes, with what changes besides. */
  readonly fields?: ChangedFields & Required<Pick<ChangedFields, 'recovery_codes'>>;
  readonly removed?: readonly (keyof UserDocument)[];
  /** Id of the authenticator app that the change confirms. */
  readonly enrolled?: string;
  readonly audit: AuditEvent;
  /** Returns the error for an account that has been changed since it was read. */
  readonly changed: () => AppError;
  readonly ifClientLeft: 'abort' | 'commit';
}

/** Makes the change, and returns the number of sessions that it has ended. */
export type ChangeSecondFactor = (change: SecondFactorChange, origin: RequestOrigin) => Promise<number>;

/**
 * Changes a second factor. In the same transaction, open codes end, and so do all other sessions unless only the
 * recovery codes are new. All challenges and trusted devices end then, because the change of `ways_changed_at` gives
 * the account another version.
 *
 * Raises `IAD_JWT_ACCESS_INVALID` if the caller's session has ended in between.
 */
export function createChangeSecondFactor(deps: ChangeSecondFactorDeps): ChangeSecondFactor {
  const { users, challenges, endSessions, commit, ids } = deps;

  return async ({ user, sessionId, at, change, fields, removed, enrolled, audit, changed, ifClientLeft }, origin) => {
    const { _id: userId } = user;
    const left = fields?.recovery_codes.length ?? 0;
    const data = { user_id: userId, change, locale: mailLocale(user, origin), recovery_codes_left: left };
    const events = secondFactorChangedEvents(data, () => eventOrigin(origin, at, ids));
    const end = { userId, reason: 'revoked_by_user', at, spare: sessionId } as const;
    const { sessions } = await commit(
      {
        ...endSessions.turnOf(userId),
        at,
        isCommitted: 'by event',
        ifClientLeft,
        async work(session) {
          const all = { ...fields, ways_changed_at: nextChangeOfMethods(user, at) };
          if (!(await users.changeIfUnchanged(user, all, session, removed, enrolled))) throw changed();
          await challenges.endAll(userId, at, session);
          const ended = change === 'recovery_codes' ? none : [await endSessions.revoke(end, origin, session)];
          return { events, audit: [audit], sessions: ended };
        },
      },
      origin,
    );
    return sessions.reduce((count, { sessionIds }) => count + sessionIds.length, 0);
  };
}
