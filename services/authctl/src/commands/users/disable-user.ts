import type { UserDocument } from '@auth-account/stores/documents';
import type { ClientSession } from 'mongodb';
import { CommandError } from '../../cli/command-error.ts';
import type { Outcome, Shell } from '../../cli/shell.ts';
import { type AccountChange, accountChanged, changeAccount, type OperatorOptions } from './change-account.ts';
import { reportChange } from './report-change.ts';

const reason = 'account_disabled';

/**
 * Disables an account, and ends its sessions in the same transaction. The transaction writes the user's document, as
 * every login does, so that no login is missed. Then the streams are closed. If Redis can't be reached, the worker
 * closes them later.
 */
export function disableUser(shell: Shell, idOrEmail: string, options: OperatorOptions): Promise<Outcome> {
  const before = ({ _id, disabled_at }: UserDocument) => {
    if (disabled_at !== undefined) throw new CommandError(`The account ${_id} is disabled already.`);
  };
  const change = async (made: AccountChange) => {
    const { transaction, stores, user, operator, at, requestId } = made;
    const { _id: user_id } = user;
    const disabled = { at, reason: options.reason, by: operator };
    const work = async (session: ClientSession) => {
      const isDone = await stores.users.disable(user_id, disabled, session);
      if (!isDone) throw accountChanged(user);
      return (await stores.sessions.revokeOf(user_id, { reason, at, requestId }, session)).ended;
    };
    const isCommitted = () => stores.users.isDisabledSince(user_id, at);
    const hold = stores.sessions.holdOf([user_id]);
    const sessionIds = await transaction(work, { isCommitted, hold });
    const facts = { disabled_at: at };
    return reportChange(shell, made, { event: 'account.disabled', sessionIds, reason, facts, done: 'Disabled.' });
  };
  return changeAccount(shell, idOrEmail, options, { before, change });
}

/** Lets a disabled account log in again. */
export function enableUser(shell: Shell, idOrEmail: string, options: OperatorOptions): Promise<Outcome> {
  const change = async ({ stores, user: { _id: user_id }, reason: why, requestId, audit }: AccountChange) => {
    if (!(await stores.users.enable(user_id))) throw new CommandError(`The account ${user_id} is not disabled.`);
    audit({ event: 'account.enabled', operator_reason: why });
    return { json: { user_id, request_id: requestId }, text: `Enabled. Request id: ${requestId}` };
  };
  return changeAccount(shell, idOrEmail, options, { change });
}
