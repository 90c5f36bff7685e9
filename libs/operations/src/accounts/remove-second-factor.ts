import { createAccountEvent, factorRemovalMessage } from '@auth-account/messaging';
import { removalOrderedNotification } from '@auth-account/messaging/account-events';
import { createOwnMessagePublisher } from '@auth-account/messaging/push-messages';
import type { UserDocument } from '@auth-account/stores/documents';
import { newRemoval } from '@auth-account/stores/factor-removals';
import type { ClientSession } from 'mongodb';
import type { OperationError } from '../operation-error.ts';
import type { EndingContext } from './announce-end.ts';
import { type AccountChange, accountChanged, describeAccount, planChange, refused } from './change-account.ts';

type Context = Omit<EndingContext, 'maxTokenSeconds'>;

/**
 * Plans the removal of an account's second factor in 72 hours, as its holder would with a code from the mailbox. The
 * holder is informed at once, by mail and in the apps of the live sessions, and can stop it. There is no way to remove
 * the factor sooner. Throws what `planChange` throws, `refused` if there is no second factor, or its removal is ordered
 * already. The result's `problem` says why the apps got no message.
 */
export function planFactorRemoval({ useRedis, ...context }: Context, idOrEmail: string) {
  const refuse = ({ _id, totp }: UserDocument) => {
    if (totp === undefined) throw refused(`The account ${_id} has no second factor.`);
    if (totp.removal !== undefined) throw orderedAlready(_id, totp.removal.due_at);
  };
  const questionOf = (user: UserDocument) =>
    `Remove the second factor of the account ${describeAccount(user)} in 72 hours? Its holder can stop it until then.`;
  const change = async (made: AccountChange) => {
    const { transaction, stores, user, at, requestId } = made;
    const { _id: user_id, locale = 'en' } = user;
    const removal = newRemoval(at, 'staff');
    const notice = removalOrderedNotification({ user_id, removal, locale }, made.nextOrigin());
    const work = async (session: ClientSession) => {
      const running = await stores.factorRemovals.order(user_id, removal, session);
      if (running === undefined) throw accountChanged(user);
      if (running.id !== removal.id) throw orderedAlready(user_id, running.due_at);
      await stores.outbox.append(notice, at, session);
      return stores.sessions.listLive(user_id, session);
    };
    const live = await transaction(work, { isCommitted: () => stores.outbox.exists(notice.id) });
    made.audit({ event: 'account.second_factor_removal_ordered', operator_reason: made.reason });
    const problem = await notifyApps(useRedis, live, factorRemovalMessage(removal.due_at, at));
    return { user_id, due_at: removal.due_at, request_id: requestId, problem };
  };
  return planChange(context, idOrEmail, { refuse, questionOf, change });
}

/**
 * Plans to stop the removal of an account's second factor. Throws what `planChange` throws, `refused` if no removal is
 * ordered or its time has come. The result's `problem` says why the apps got no message.
 */
export function planStopOfFactorRemoval({ useRedis, ...context }: Context, idOrEmail: string) {
  const refuse = ({ _id, totp }: UserDocument, now: Date) => {
    if (totp?.removal !== undefined && totp.removal.due_at > now) return;
    throw refused(`No removal of a second factor of the account ${_id} can be stopped.`);
  };
  const questionOf = (user: UserDocument) =>
    `Stop the removal of the second factor of the account ${describeAccount(user)}? Its holder is informed.`;
  const change = async (made: AccountChange) => {
    const { transaction, stores, user, at, requestId } = made;
    const { _id: user_id, totp, locale = 'en' } = user;
    const data = { user_id, purpose: 'second_factor_removal_stopped', locale } as const;
    const notice = createAccountEvent('service.auth.events.notice', data, made.nextOrigin());
    const work = async (session: ClientSession) => {
      const isStopped = await stores.factorRemovals.stop(user_id, totp?.removal?.id ?? '', at, session);
      if (!isStopped) throw accountChanged(user);
      await stores.outbox.append(notice, at, session);
      return stores.sessions.listLive(user_id, session);
    };
    const live = await transaction(work, { isCommitted: () => stores.outbox.exists(notice.id) });
    made.audit({ event: 'account.second_factor_removal_stopped', operator_reason: made.reason });
    const problem = await notifyApps(useRedis, live, factorRemovalMessage(null, at));
    return { user_id, request_id: requestId, problem };
  };
  return planChange(context, idOrEmail, { refuse, questionOf, change });
}

function orderedAlready(userId: string, dueAt: Date): OperationError {
  const time = dueAt.toISOString();
  return refused(`The removal of the second factor of the account ${userId} is ordered already: ${time}.`);
}

/** Sends a message to the apps of the sessions. Returns the reason if that failed, otherwise null. */
async function notifyApps(
  useRedis: Context['useRedis'],
  live: readonly { readonly _id: string }[],
  content: ReturnType<typeof factorRemovalMessage>,
): Promise<string | null> {
  try {
    await useRedis(async ({ redis, keys }) => {
      const push = createOwnMessagePublisher(redis, keys);
      for (const { _id } of live) await push.toSession(_id, content);
    });
    return null;
  } catch (error) {
    // The change is committed, whether Redis answers or not.
    return (error as Error).message;
  }
}
