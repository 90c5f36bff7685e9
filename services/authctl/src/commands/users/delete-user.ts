import { deletionConfig, graceDaysLimits } from '@auth-account/config';
import * as Type from '@auth-account/contracts/type';
import { eventOrigin } from '@auth-account/messaging';
import { deletionCancelledEvents, deletionScheduledEvents } from '@auth-account/messaging/account-events';
import { erasureTime } from '@auth-account/stores/deletions';
import type { UserDocument } from '@auth-account/stores/documents';
import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { ClientSession } from 'mongodb';
import { v7 } from 'uuid';
import { CommandError } from '../../cli/command-error.ts';
import type { Outcome, Shell } from '../../cli/shell.ts';
import {
  type AccountChange,
  accountChanged,
  changeAccount,
  describeAccount,
  type OperatorOptions,
} from './change-account.ts';
import { reportChange } from './report-change.ts';

const { minimum, maximum } = graceDaysLimits;

function parseGraceDays(text: string): number {
  const days = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  if (!(days >= minimum && days <= maximum)) {
    throw new InvalidArgumentError(`It must be a whole number from ${minimum} to ${maximum}.`);
  }
  return days;
}

export const graceDaysOption = () =>
  new Option('--grace-days <n>', 'days until the erasure; default: ACCOUNT_DELETION_GRACE_DAYS').argParser(
    parseGraceDays,
  );

export interface DeleteOptions extends OperatorOptions {
  readonly graceDays?: number | undefined;
  readonly yes?: true | undefined;
}

const reason = 'account_deleted';

/**
 * Orders the deletion of an account, as its holder would. All sessions end in the same transaction, subscribers and the
 * holder are informed, and the worker erases the account after the grace period. The transaction writes the user's
 * document, as every login does, so that no login is missed. If the deletion was already ordered, its time does not
 * change.
 */
export function deleteUser(shell: Shell, idOrEmail: string, options: DeleteOptions): Promise<Outcome> {
  const days = options.graceDays ?? shell.config(Type.Object(deletionConfig)).ACCOUNT_DELETION_GRACE_DAYS;
  const before = async (user: UserDocument) => {
    const { _id, deletes_at } = user;
    if (deletes_at !== undefined) throw scheduledAlready(_id, deletes_at);
    const when = days === 0 ? 'at once, for good' : `in ${days} days, and can be restored until then`;
    if (!options.yes)
      await shell.confirm(`Delete the account ${describeAccount(user)}? Its sessions end now. It is erased ${when}.`);
  };
  const change = async (made: AccountChange) => {
    const { transaction, stores, user, at, requestId } = made;
    const { _id: user_id, locale = 'en' } = user;
    const deletesAt = erasureTime(at, days);
    const nextOrigin = () => eventOrigin({ requestId }, at, { entityId: v7 });
    const events = deletionScheduledEvents({ user_id, deletesAt, locale }, nextOrigin);
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
    const done = `Will be erased at ${deletesAt.toISOString()}.`;
    const facts = { deletes_at: deletesAt };
    return reportChange(shell, made, { event: 'account.deletion_scheduled', sessionIds, reason, facts, done });
  };
  return changeAccount(shell, idOrEmail, options, { before, change });
}

function scheduledAlready(userId: string, deletesAt: Date): CommandError {
  const time = deletesAt.toISOString();
  return new CommandError(`The deletion of the account ${userId} is ordered already: it will be erased at ${time}.`);
}

/** Cancels the deletion of an account, and informs its holder. A disabled account stays disabled. */
export function restoreUser(shell: Shell, idOrEmail: string, options: OperatorOptions): Promise<Outcome> {
  const before = ({ _id, deletes_at }: UserDocument, now: () => Date) => {
    if (deletes_at === undefined) throw new CommandError(`The account ${_id} is not about to be deleted.`);
    if (deletes_at > now()) return;
    const time = deletes_at.toISOString();
    throw new CommandError(`The account ${_id} cannot be restored: the time of its erasure, ${time}, has come.`);
  };
  const change = async ({ transaction, stores, user, at, requestId, reason: why, audit }: AccountChange) => {
    const { _id: user_id, disabled_at, locale = 'en' } = user;
    const nextOrigin = () => eventOrigin({ requestId }, at, { entityId: v7 });
    const events = deletionCancelledEvents({ user_id, locale }, nextOrigin);
    const work = async (session: ClientSession) => {
      if (!(await stores.deletions.cancel(user, at, session, { isOperator: true }))) throw accountChanged(user);
      for (const event of events) await stores.outbox.append(event, at, session);
    };
    await transaction(work, { isCommitted: () => stores.outbox.exists(events[0].id) });
    audit({ event: 'account.deletion_cancelled', operator_reason: why });
    const still = disabled_at === undefined ? '' : ' It is still disabled.';
    return { json: { user_id, request_id: requestId }, text: `Restored.${still} Request id: ${requestId}` };
  };
  return changeAccount(shell, idOrEmail, options, { before, change });
}
