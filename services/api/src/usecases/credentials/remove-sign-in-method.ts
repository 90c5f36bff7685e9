import type { AuthEvent, Locale } from '@auth-account/contracts/events';
import { AppError } from '@auth-account/errors';
import { type AccountEventOrigin, eventOrigin } from '@auth-account/messaging';
import type { PresentUser, UserStore } from '@auth-account/stores';
import type { ChallengeStore } from '@auth-account/stores/challenges';
import { hasOtherSignInMethod, type OfferedMethods } from '@auth-account/stores/credentials';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { ClientSession } from 'mongodb';
import { type Commit, none } from '../../announcements/commit.ts';
import { ChangedMeanwhile, retryIfChanged } from '../../announcements/retry-if-changed.ts';
import type { AuditEvent } from '../../audit/events.ts';
import type { Limits } from '../../limits/limits.ts';
import type { Ids } from '../../request/ids.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';
import type { Reauthenticate } from '../step-up/reauthenticate.ts';

export interface RemoveSignInMethodDeps {
  readonly users: Pick<UserStore, 'find'>;
  readonly challenges: Pick<ChallengeStore, 'endAll'>;
  readonly reauthenticate: Reauthenticate;
  readonly limits: Pick<Limits, 'write'>;
  readonly commit: Commit;
  readonly ids: Pick<Ids, 'entityId'>;
  readonly offered: OfferedMethods;
  readonly now: () => Date;
}

/** The store of the sign-in methods of one kind. */
interface SignInMethods {
  remove(seen: PresentUser, id: string, at: Date, session: ClientSession): Promise<boolean>;
  has(userId: string, id: string): Promise<boolean>;
}

/** A sign-in method that its owner removes. */
export interface RemovedMethod {
  readonly id: string;
  readonly signInMethods: SignInMethods;
  /** Returns the event for subscribers and the notification. */
  events(locale: Locale, nextOrigin: () => AccountEventOrigin): readonly AuthEvent[];
  /** Record in the audit log. */
  readonly audit: AuditEvent;
}

/** A request to remove a sign-in method. */
export interface Removal {
  /** Body of the request, with the proof of who is there. */
  readonly input: Parameters<Reauthenticate>[0];
  readonly purpose: Parameters<Reauthenticate>[3];
  /** Finds the method in the account as it is now. Raises an error if it is not there. */
  readonly find: (user: PresentUser) => RemovedMethod;
}

/** Removes a sign-in method, and returns the account as it was before. */
export type RemoveSignInMethod = (
  removal: Removal,
  caller: VerifiedAccessToken,
  origin: RequestOrigin,
) => Promise<PresentUser>;

/**
 * Removes one of the caller's sign-in methods, if another is left. It ends the account's open codes. Of two removals at
 * once the second is decided anew, so that they cannot both take the last one.
 *
 * Raises the errors of {@link Reauthenticate} and of `find`, `ERR-LAST-CREDENTIAL`, `ERR-RATE-LIMITED`,
 * `ERR-REAUTHENTICATION-FAILED` if the password or the email address was changed since the proof, and
 * `ERR-DEPENDENCY-UNAVAILABLE` after too many tries.
 */
export function createRemoveSignInMethod(deps: RemoveSignInMethodDeps): RemoveSignInMethod {
  const { users, reauthenticate, limits, offered } = deps;
  const remove = createRemove(deps);

  return async ({ input, purpose, find }, caller, origin) => {
    const proved = await reauthenticate(input, caller, origin, purpose);
    await limits.write(caller.sid, origin);
    const removeFrom = async (user: PresentUser | undefined) => {
      if (user === undefined || !isProved(proved, user)) throw new AppError('ERR-REAUTHENTICATION-FAILED');
      const signInMethod = find(user);
      if (!hasOtherSignInMethod(user, signInMethod.id, offered)) throw new AppError('ERR-LAST-CREDENTIAL');
      await remove(user, signInMethod, origin);
      return user;
    };
    return retryIfChanged(() => users.find(proved._id), removeFrom, proved);
  };
}

/**
 * Returns true if the password and the email address are those of the proof. Other sign-in methods may have been
 * changed.
 */
function isProved(proved: PresentUser, { email_key, password_changed_at }: PresentUser): boolean {
  return proved.email_key === email_key && proved.password_changed_at?.getTime() === password_changed_at?.getTime();
}

/** Writes a removal. Raises {@link ChangedMeanwhile} if the account was changed since it was read. */
function createRemove({ challenges, commit, ids, now }: RemoveSignInMethodDeps) {
  return async (
    user: PresentUser,
    { id, signInMethods, events: eventsOf, audit }: RemovedMethod,
    origin: RequestOrigin,
  ): Promise<void> => {
    const at = now();
    const events = eventsOf(mailLocale(user, origin), () => eventOrigin(origin, at, ids));
    await commit(
      {
        at,
        isCommitted: async () => !(await signInMethods.has(user._id, id)),
        ifClientLeft: 'commit',
        async work(session) {
          if (!(await signInMethods.remove(user, id, at, session))) throw new ChangedMeanwhile();
          await challenges.endAll(user._id, at, session);
          return { events, audit: [audit], sessions: none };
        },
      },
      origin,
    );
  };
}
