import { graceDaysLimits } from '@auth-account/config';
import { deletionCancelledEvents, deletionScheduledEvents } from '@auth-account/messaging/account-events';
import { erasureTime } from '@auth-account/stores/deletions';
import type { UserDocument } from '@auth-account/stores/documents';
import type { ClientSession } from 'mongodb';
import { OperationError } from '../operation-error.ts';
import { announceEnd, type EndingContext } from './announce-end.ts';
import {
  type AccountChange,
  type AccountContext,
  accountChanged,
  describeAccount,
  planChange,
  refused,
} from './change-account.ts';

const { minimum, maximum } = graceDaysLimits;
const reason = 'account_deleted';

/** Returns the reason for which a deletion may not take so many days. */
export function findGraceDaysFault(days: number): string | undefined {
  if (Number.isInteger(days) && days >= minimum && days <= maximum) return undefined;
  return `It must be a whole number from ${minimum} to ${maximum}.`;
}

/**
 * Plans the deletion of an account, as its holder would order it. All sessions end in the same transaction, subscribers
 * and the holder are informed, and the worker erases the account after the grace period. The transaction writes the
 * user's document, as every login does, so that no login is missed. Throws what `planChange` throws, `refused` if the
 * deletion was ordered already: its time does not change.
 */
export async function planDelete(
  context: EndingContext,
  idOrEmail: string,
  { graceDays: days }: { readonly graceDays: number },
) {
  const fault = findGraceDaysFault(days);
  if (fault !== undefined) throw new OperationError('invalid', `The days until the erasure: ${fault}`);
  const refuse = ({ _id, deletes_at }: UserDocument) => {
    if (deletes_at !== undefined) throw scheduledAlready(_id, deletes_at);
  };
  const questionOf = (user: UserDocument) => {
    const when = days === 0 ? 'at once, for good' : `in ${days} days, and can be restored until then`;
    return `Delete the account ${describeAccount(user)}? Its sessions end now. It is erased ${when}.`;
  };
  const change = async (made: AccountChange) => {
    const { transaction, stores, user, at, requestId } = made;
    const { _id: user_id, locale = 'en' } = user;
    const deletesAt = erasureTime(at, days);
    const events = deletionScheduledEvents({ user_id, deletesAt, locale }, made.nextOrigin);
    const work = async (session: ClientSession) => {
      const scheduled = await stores.deletions.schedule(user, deletesAt, session);
      if (scheduled === undefined) throw accountChanged(user);
      // The transaction is committed nevertheless, because once a majority has this transaction, a majority has the
      // earlier order too.
      if (!scheduled.isNew) return { earlier: scheduled.deletesAt, ended: [] };
      const { ended } = await stores.sessions.revokeOf(user_id, { reason, at, requestId }, session);
      for (const event of events) await stores.outbox.append(event, at, session);
      return { ended };
    };
    const isCommitted = () => stores.outbox.exists(events[0].id);
    const hold = stores.sessions.holdOf([user_id]);
    const { ended: sessionIds, earlier } = await transaction(work, { isCommitted, hold });
    if (earlier !== undefined) throw scheduledAlready(user_id, earlier);
    const facts = { deletes_at: deletesAt };
    return announceEnd(context, made, { event: 'account.deletion_scheduled', sessionIds, reason, facts });
  };
  return await planChange(context, idOrEmail, { refuse, questionOf, change });
}

function scheduledAlready(userId: string, deletesAt: Date): OperationError {
  const time = deletesAt.toISOString();
  return refused(`The deletion of the account ${userId} is ordered already: it will be erased at ${time}.`);
}

/**
 * Plans to cancel the deletion of an account, and to inform its holder. A disabled account stays disabled. Throws what
 * `planChange` throws, `refused` if no deletion was ordered or the time of the erasure has come.
 */
export function planRestore(context: AccountContext, idOrEmail: string) {
  const refuse = ({ _id, deletes_at }: UserDocument, now: Date) => {
    if (deletes_at === undefined) throw refused(`The account ${_id} is not about to be deleted.`);
    if (deletes_at > now) return;
    const time = deletes_at.toISOString();
    throw refused(`The account ${_id} cannot be restored: the time of its erasure, ${time}, has come.`);
  };
  const questionOf = (user: UserDocument) => {
    const disabled = user.disabled_at === undefined ? '' : ' It stays disabled.';
    return `Cancel the deletion of the account ${describeAccount(user)}? Its holder is informed.${disabled}`;
  };
  const change = async ({ transaction, stores, user, at, requestId, nextOrigin, ...made }: AccountChange) => {
    const { _id: user_id, disabled_at, locale = 'en' } = user;
    const events = deletionCancelledEvents({ user_id, locale }, nextOrigin);
    const work = async (session: ClientSession) => {
      if (!(await stores.deletions.cancel(user, at, session, { isOperator: true }))) throw accountChanged(user);
      for (const event of events) await stores.outbox.append(event, at, session);
    };
    await transaction(work, { isCommitted: () => stores.outbox.exists(events[0].id) });
    made.audit({ event: 'account.deletion_cancelled', operator_reason: made.reason });
    return { user_id, request_id: requestId, is_disabled: disabled_at !== undefined };
  };
  return planChange(context, idOrEmail, { refuse, questionOf, change });
}
