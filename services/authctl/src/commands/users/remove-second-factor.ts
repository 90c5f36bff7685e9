import { createAccountEvent, eventOrigin, factorRemovalMessage } from '@auth-account/messaging';
import { removalOrderedNotification } from '@auth-account/messaging/account-events';
import { createOwnMessagePublisher } from '@auth-account/messaging/push-messages';
import type { UserDocument } from '@auth-account/stores/documents';
import { newRemoval } from '@auth-account/stores/factor-removals';
import type { ClientSession } from 'mongodb';
import { v7 } from 'uuid';
import { CommandError } from '../../cli/command-error.ts';
import type { Outcome, Shell } from '../../cli/shell.ts';
import { withRedis } from '../../compose.ts';
import {
  type AccountChange,
  accountChanged,
  changeAccount,
  describeAccount,
  type OperatorOptions,
} from './change-account.ts';

export interface RemoveSecondFactorOptions extends OperatorOptions {
  readonly stop?: true | undefined;
  readonly yes?: true | undefined;
}

/**
 * Orders the removal of an account's second factor in 72 hours, as its holder would with a code from the mailbox, or
 * stops it. The holder is informed at once, by mail and in the apps of the live sessions, and can stop it. There is no
 * way to remove the factor sooner.
 */
export function removeSecondFactor(
  shell: Shell,
  idOrEmail: string,
  options: RemoveSecondFactorOptions,
): Promise<Outcome> {
  return options.stop ? stopRemoval(shell, idOrEmail, options) : orderRemoval(shell, idOrEmail, options);
}

function orderRemoval(shell: Shell, idOrEmail: string, options: RemoveSecondFactorOptions): Promise<Outcome> {
  const before = async (user: UserDocument) => {
    const { _id, totp } = user;
    if (totp === undefined) throw new CommandError(`The account ${_id} has no second factor.`);
    if (totp.removal !== undefined) throw orderedAlready(_id, totp.removal.due_at);
    const question = `Remove the second factor of the account ${describeAccount(user)} in 72 hours? Its holder can stop it until then.`;
    if (!options.yes) await shell.confirm(question);
  };
  const change = async (made: AccountChange) => {
    const { transaction, stores, user, at, requestId } = made;
    const { _id: user_id, locale = 'en' } = user;
    const removal = newRemoval(at, 'staff');
    const notice = removalOrderedNotification({ user_id, removal, locale }, originOf(made));
    const work = async (session: ClientSession) => {
      const running = await stores.factorRemovals.order(user_id, removal, session);
      if (running === undefined) throw accountChanged(user);
      if (running.id !== removal.id) throw orderedAlready(user_id, running.due_at);
      await stores.outbox.append(notice, at, session);
      return stores.sessions.listLive(user_id, session);
    };
    const live = await transaction(work, { isCommitted: () => stores.outbox.exists(notice.id) });
    made.audit({ event: 'account.second_factor_removal_ordered', operator_reason: made.reason });
    const problem = await notifyApps(shell, live, factorRemovalMessage(removal.due_at, at));
    const json = { user_id, due_at: removal.due_at, request_id: requestId, problem };
    return { json, text: notified(`Will be removed at ${removal.due_at.toISOString()}.`, requestId, problem) };
  };
  return changeAccount(shell, idOrEmail, options, { before, change });
}

function stopRemoval(shell: Shell, idOrEmail: string, options: RemoveSecondFactorOptions): Promise<Outcome> {
  const before = ({ _id, totp }: UserDocument, now: () => Date) => {
    if (totp?.removal !== undefined && totp.removal.due_at > now()) return;
    throw new CommandError(`No removal of a second factor of the account ${_id} can be stopped.`);
  };
  const change = async (made: AccountChange) => {
    const { transaction, stores, user, at, requestId } = made;
    const { _id: user_id, totp, locale = 'en' } = user;
    const data = { user_id, purpose: 'second_factor_removal_stopped', locale } as const;
    const notice = createAccountEvent('service.auth.events.notice', data, originOf(made));
    const work = async (session: ClientSession) => {
      const isStopped = await stores.factorRemovals.stop(user_id, totp?.removal?.id ?? '', at, session);
      if (!isStopped) throw accountChanged(user);
      await stores.outbox.append(notice, at, session);
      return stores.sessions.listLive(user_id, session);
    };
    const live = await transaction(work, { isCommitted: () => stores.outbox.exists(notice.id) });
    made.audit({ event: 'account.second_factor_removal_stopped', operator_reason: made.reason });
    const problem = await notifyApps(shell, live, factorRemovalMessage(null, at));
    const text = notified('Stopped: the second factor stays.', requestId, problem);
    return { json: { user_id, request_id: requestId, problem }, text };
  };
  return changeAccount(shell, idOrEmail, options, { before, change });
}

function orderedAlready(userId: string, dueAt: Date): CommandError {
  const time = dueAt.toISOString();
  return new CommandError(`The removal of the second factor of the account ${userId} is ordered already: ${time}.`);
}

const originOf = ({ requestId, at }: AccountChange) => eventOrigin({ requestId }, at, { entityId: v7 });

function notified(done: string, requestId: string, problem: string | null): string {
  const text = `${done} Request id: ${requestId}`;
  return problem === null ? text : `${text}\nThe apps got no message (${problem}); the mail is on its way.`;
}

/** Sends a message to the apps of the sessions. Returns the reason if that failed, otherwise null. */
async function notifyApps(
  shell: Shell,
  live: readonly { readonly _id: string }[],
  content: ReturnType<typeof factorRemovalMessage>,
): Promise<string | null> {
  try {
    await withRedis(shell, async ({ redis, keys }) => {
      const push = createOwnMessagePublisher(redis, keys);
      for (const { _id } of live) await push.toSession(_id, content);
    });
    return null;
  } catch (error) {
    // The change is committed, whether Redis answers or not.
    return (error as Error).message;
  }
}
