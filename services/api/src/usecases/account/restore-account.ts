import type { RestoredResponse, RestoreRequest } from '@auth-account/contracts/http/deletion';
import { AppError } from '@auth-account/errors';
import { eventOrigin } from '@auth-account/messaging';
import { deletionCancelledEvents } from '@auth-account/messaging/account-events';
import type { PresentUser, SessionStore, UserStore } from '@auth-account/stores';
import { hasSameCredentials } from '@auth-account/stores/credentials';
import type { DeletionStore } from '@auth-account/stores/deletions';
import type { LearnedDevice } from '@auth-account/stores/known-devices';
import { hasSecondFactor } from '@auth-account/stores/second-factors';
import { type Commit, none } from '../../announcements/commit.ts';
import type { Audit } from '../../audit/audit.ts';
import type { Ids } from '../../request/ids.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';
import { knownAs, learnedDevice, newDeviceNotification } from '../login/new-device.ts';
import { loginRefusalOf } from '../login/proved-login.ts';
import type { Authenticate } from '../proofs/check-password.ts';

export interface RestoreAccountDeps {
  readonly users: Pick<UserStore, 'touchLogin'>;
  readonly sessions: Pick<SessionStore, 'listLive'>;
  readonly deletions: Pick<DeletionStore, 'cancel'>;
  readonly authenticate: Authenticate;
  readonly commit: Commit;
  readonly audit: Audit;
  readonly ids: Pick<Ids, 'entityId'>;
  readonly now: () => Date;
}

/**
 * Cancels the deletion of the account with that password, and opens no session. If no deletion is ordered, it succeeds
 * too, because the answer to an earlier try may have been lost. So that a thief cannot try passwords unnoticed, a
 * restore is reported like a login: in the audit log and, from a device that the account does not know, by mail.
 *
 * Raises the errors of {@link Authenticate}, and `ERR-ACCOUNT-DISABLED`. Also raises `ERR-INVALID-CREDENTIALS` if the
 * time of the erasure has come.
 */
export function createRestoreAccount(deps: RestoreAccountDeps) {
  const { authenticate, audit, now } = deps;
  const restore = createRestore(deps);

  return async (input: RestoreRequest, origin: RequestOrigin): Promise<RestoredResponse['data']> => {
    const seen = await authenticate(input, origin);
    const { _id: user_id } = seen;
    await restore(seen, knownAs(input), origin).catch((error: unknown) => {
      const reason = loginRefusalOf(error);
      if (reason !== undefined) audit({ event: 'login.refused', user_id, reason }, origin);
      throw error;
    });
    return { message: 'ACCOUNT_RESTORED', timestamp: now().toISOString() };
  };
}

/**
 * Restores the account. Like a login it writes the user's document, so it also cancels a deletion that is ordered at
 * the same time.
 */
function createRestore(deps: RestoreAccountDeps) {
  const { users, sessions, deletions, commit, ids, now } = deps;

  return async (seen: PresentUser, device: string, origin: RequestOrigin) => {
    const { _id: user_id } = seen;
    const at = now();
    const events = deletionCancelledEvents({ user_id, locale: mailLocale(seen, origin) }, () =>
      eventOrigin(origin, at, ids),
    );
    const learned = learnedBy(seen, device, at);
    return commit(
      {
        at,
        lockKey: user_id,
        // If the restore has no event, no write shows that it has taken effect. The restore is tried again then,
        // because an earlier restore that it has read may have been rolled back.
        isCommitted: 'by event',
        // An app that has given up may have ordered another deletion since then.
        ifClientLeft: 'abort',
        async work(session) {
          const user = await users.touchLogin(user_id, at, session, learned);
          assertMayRestore(seen, user);
          const isCancelled = user.deletes_at !== undefined && (await deletions.cancel(user, at, session));
          const live = await sessions.listLive(user_id, session);
          const notice = newDeviceNotification(deps, { user, device, at, live, ended: [] }, origin);
          const verified = { event: 'login.verified', user_id, session_id: undefined } as const;
          const cancels = { event: 'account.deletion_cancelled', user_id } as const;
          return {
            events: isCancelled ? [...events, ...notice.events] : notice.events,
            audit: isCancelled ? [verified, cancels] : [verified],
            sessions: none,
            messages: notice.messages,
          };
        },
      },
      origin,
    );
  };
}

/**
 * Returns what the account learns of the device. If it demands a second factor, which a restore does not ask for, it
 * only counts the notification.
 */
function learnedBy(seen: PresentUser, device: string, at: Date): LearnedDevice | undefined {
  const learned = learnedDevice(seen, device, at);
  if (learned === undefined || !hasSecondFactor(seen)) return learned;
  return learned.counts ? { ...learned, name: undefined } : undefined;
}

/** Throws unless the verified credentials are still the account's and the account may be restored. */
function assertMayRestore(seen: PresentUser, user: PresentUser | undefined): asserts user is PresentUser {
  if (user === undefined || !hasSameCredentials(seen, user)) throw new AppError('ERR-INVALID-CREDENTIALS');
  if (user.disabled_at !== undefined) throw new AppError('ERR-ACCOUNT-DISABLED');
}
