import type { UserDocument } from '@auth-account/stores/documents';
import type { ClientSession } from 'mongodb';
import { announceEnd, type EndingContext } from './announce-end.ts';
import {
  type AccountChange,
  type AccountContext,
  accountChanged,
  describeAccount,
  planChange,
  refused,
} from './change-account.ts';

const reason = 'account_disabled';

/**
 * Plans to disable an account, and to end its sessions in the same transaction. The transaction writes the user's
 * document, as every login does, so that no login is missed. Then the streams are closed. If Redis can't be reached, the
 * worker closes them later. Throws what `planChange` throws, `refused` if the account is disabled already.
 */
export function planDisable(context: EndingContext, idOrEmail: string) {
  const refuse = ({ _id, disabled_at }: UserDocument) => {
    if (disabled_at !== undefined) throw refused(`The account ${_id} is disabled already.`);
  };
  const questionOf = (user: UserDocument) =>
    `Disable the account ${describeAccount(user)}? Its sessions end now, and nobody can log in.`;
  const change = async (made: AccountChange) => {
    const { transaction, stores, user, name, at, requestId } = made;
    const { _id: user_id } = user;
    const disabled = { at, reason: made.reason, by: name };
    const work = async (session: ClientSession) => {
      const isDone = await stores.users.disable(user_id, disabled, session);
      if (!isDone) throw accountChanged(user);
      return (await stores.sessions.revokeOf(user_id, { reason, at, requestId }, session)).ended;
    };
    const isCommitted = () => stores.users.isDisabledSince(user_id, at);
    const hold = stores.sessions.holdOf([user_id]);
    const sessionIds = await transaction(work, { isCommitted, hold });
    const facts = { disabled_at: at };
    return announceEnd(context, made, { event: 'account.disabled', sessionIds, reason, facts });
  };
  return planChange(context, idOrEmail, { refuse, questionOf, change });
}

/**
 * Plans to let a disabled account log in again. Throws what `planChange` throws, `refused` if the account is not
 * disabled.
 */
export function planEnable(context: AccountContext, idOrEmail: string) {
  const notDisabled = (id: string) => refused(`The account ${id} is not disabled.`);
  const refuse = ({ _id, disabled_at }: UserDocument) => {
    if (disabled_at === undefined) throw notDisabled(_id);
  };
  const questionOf = (user: UserDocument) =>
    `Let the holder of the account ${describeAccount(user)} log in again? Its ended sessions stay ended.`;
  const change = async ({ stores, user: { _id: user_id }, reason: why, requestId, audit }: AccountChange) => {
    if (!(await stores.users.enable(user_id))) throw notDisabled(user_id);
    audit({ event: 'account.enabled', operator_reason: why });
    return { user_id, request_id: requestId };
  };
  return planChange(context, idOrEmail, { refuse, questionOf, change });
}
