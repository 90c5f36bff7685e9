import type { AuthEvent } from '@auth-account/contracts/events';
import type { DeletionScheduledResponse } from '@auth-account/contracts/http/deletion';
import { AppError } from '@auth-account/errors';
import { createAccountEvent, eventOrigin } from '@auth-account/messaging';
import { deletionScheduledEvents } from '@auth-account/messaging/account-events';
import type { PresentUser, UserStore } from '@auth-account/stores';
import type { ChallengeStore } from '@auth-account/stores/challenges';
import { passwordFields } from '@auth-account/stores/credentials';
import { type DeletionStore, erasureTime } from '@auth-account/stores/deletions';
import { unusableHash } from '@auth-account/stores/unusable-hash';
import type { ClientSession } from 'mongodb';
import { type Commit, none } from '../../announcements/commit.ts';
import type { Limits } from '../../limits/limits.ts';
import type { Ids } from '../../request/ids.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';
import { isCodeUsed, type RightCode, useCode } from '../proofs/use-proof.ts';
import type { EndSessions } from '../sessions/end-sessions.ts';

export interface OrderDeletionDeps {
  readonly users: Pick<UserStore, 'changeIfUnchanged'>;
  readonly challenges: Pick<ChallengeStore, 'use' | 'wasUsed' | 'endAll'>;
  readonly deletions: Pick<DeletionStore, 'schedule'>;
  readonly endSessions: EndSessions;
  readonly limits: Pick<Limits, 'orderDeletion'>;
  readonly commit: Commit;
  readonly graceDays: number;
  readonly ids: Pick<Ids, 'entityId'>;
  readonly now: () => Date;
}

/** An order to delete an account, given with a proof of ownership (the password or a code). */
export interface DeletionOrder {
  /** The account as it was at the time of the proof. */
  readonly user: PresentUser;
  /** Session of the caller; missing for an order by a code. */
  readonly sessionId?: string;
  /** Returns the error for an account whose password or email address was changed since the proof. */
  readonly changed: () => Error;
  /**
   * The code that authorised the deletion. With it, the order makes the password of an account unusable whose email
   * address was never verified, so that the password cannot restore the account. All other codes end too.
   */
  readonly code?: RightCode;
}

export type OrderDeletion = (order: DeletionOrder, origin: RequestOrigin) => Promise<DeletionScheduledResponse['data']>;

/**
 * Orders the deletion of an account and ends all its sessions in the same transaction. It writes the user's document,
 * like every login, so that no login is missed. If the deletion is ordered already, its time stays and no notification
 * is sent. Every other order sends a mail, so an account may give only a few orders a day.
 *
 * Raises `ERR-RATE-LIMITED`, and `IAD_JWT_ACCESS_INVALID` if the caller's session has ended since.
 */
export function createOrderDeletion(deps: OrderDeletionDeps): OrderDeletion {
  const { challenges, deletions, endSessions, limits, commit, graceDays, ids, now } = deps;
  const revokePassword = createRevokePassword(deps);

  return async ({ user, sessionId, changed, code }, origin) => {
    const { _id: userId } = user;
    if (user.deletes_at === undefined) await limits.orderDeletion(user, origin);
    const at = now();
    const wanted = erasureTime(at, graceDays);
    const ordered = { user_id: userId, deletesAt: wanted, locale: mailLocale(user, origin) };
    const events = deletionScheduledEvents(ordered, () => eventOrigin(origin, at, ids));
    const end = { userId, reason: 'account_deleted', at, by: sessionId } as const;
    const endAll = async (session: ClientSession) => {
      const ended = await endSessions.revoke(end, origin, session);
      // Another request has ended the session since the password was checked. The session's own request must then fail.
      if (sessionId !== undefined && !ended.sessionIds.includes(sessionId))
        throw new AppError('IAD_JWT_ACCESS_INVALID');
      return ended;
    };
    const revokeUnless = async (isVerified: boolean, session: ClientSession) =>
      code !== undefined && !isVerified ? [await revokePassword(user, at, origin, session)] : none;
    const { deletesAt } = await commit(
      {
        ...endSessions.turnOf(userId),
        at,
        isCommitted: code === undefined ? 'by event' : () => isCodeUsed(challenges, code),
        // A user whose app has given up would not know that the account will be deleted.
        ifClientLeft: 'abort',
        async work(session) {
          if (code !== undefined) await useCode(challenges, code, at, session);
          const scheduled = await deletions.schedule(user, wanted, session);
          if (scheduled === undefined) throw changed();
          const { deletesAt, isNew, isVerified } = scheduled;
          const revoked = await revokeUnless(isVerified, session);
          const written = isNew ? [...events, ...revoked] : revoked;
          const audit = { event: 'account.deletion_scheduled', user_id: userId, session_id: sessionId } as const;
          return {
            deletesAt,
            events: written,
            audit: written.length > 0 ? [audit] : none,
            sessions: isNew ? [await endAll(session)] : none,
          };
        },
      },
      origin,
    );
    return { message: 'DELETION_SCHEDULED', deletes_at: deletesAt.toISOString(), timestamp: now().toISOString() };
  };
}

/** Makes the account's password unusable and ends its codes, in the transaction of an order. It returns the event. */
function createRevokePassword({ users, challenges, ids }: OrderDeletionDeps) {
  return async (user: PresentUser, at: Date, origin: RequestOrigin, session: ClientSession): Promise<AuthEvent> => {
    const { _id: user_id, password_hash } = user;
    // This does not fail, because the order has checked that neither the password nor the email address was changed.
    await users.changeIfUnchanged(user, passwordFields(unusableHash(password_hash), user, at, true), session);
    await challenges.endAll(user_id, at, session);
    const changed = { user_id, changed_at: at.toISOString(), reason: 'deletion' } as const;
    return createAccountEvent('service.auth.events.password_changed', changed, eventOrigin(origin, at, ids));
  };
}
