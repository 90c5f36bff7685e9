import { eventOrigin } from '@auth-account/messaging';
import { passkeyRemovedEvents } from '@auth-account/messaging/account-events';
import { nextChangeOfWays } from '@auth-account/stores/credentials';
import type { UserDocument } from '@auth-account/stores/documents';
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

export interface RemovePasskeysOptions extends OperatorOptions {
  readonly yes?: true | undefined;
}

const reason = 'forced';

/**
 * Removes all passkeys of an account, because somebody else may have added one. All sessions and open codes of the
 * account end in the same transaction, and so does the trust in its devices. The password and the second factor stay.
 */
export function removePasskeys(shell: Shell, idOrEmail: string, options: RemovePasskeysOptions): Promise<Outcome> {
  const before = async (user: UserDocument) => {
    if (!user.passkeys?.length) throw new CommandError(`The account ${user._id} has no passkeys.`);
    if (!options.yes) await shell.confirm(questionOf(user, user.passkeys.length));
  };
  const change = async (made: AccountChange) => {
    const { transaction, stores, user, at, requestId } = made;
    const { _id: user_id, passkeys = [], pending_email_until, locale = 'en' } = user;
    const nextOrigin = () => eventOrigin({ requestId }, at, { entityId: v7 });
    const events = passkeys.flatMap(({ id }) => passkeyRemovedEvents({ user_id, passkey_id: id, locale }, nextOrigin));
    const lapsed = pending_email_until && { pending_email_until: at };
    const fields = { passkeys: [], ways_changed_at: nextChangeOfWays(user, at), ...lapsed };
    const work = async (session: ClientSession) => {
      if (!(await stores.users.changeFresh(user, fields, session))) throw accountChanged(user);
      await stores.challenges.endAll(user_id, at, session);
      const { ended } = await stores.sessions.revokeOf(user_id, { reason, at, requestId }, session);
      for (const event of events) await stores.outbox.append(event, at, session);
      return ended;
    };
    const isCommitted = () => stores.outbox.exists(events[0]?.id ?? '');
    const hold = stores.sessions.holdOf([user_id], shell.now);
    const sessionIds = await transaction(work, { isCommitted, hold });
    const audited = { passkeys: passkeys.length };
    const shared = { event: 'passkey.removed', operator_reason: made.reason };
    for (const { id: passkey_id } of passkeys) made.audit({ ...shared, passkey_id });
    const told = {
      event: 'account.passkeys_removed',
      audited,
      facts: audited,
      done: `Passkeys removed: ${passkeys.length}.`,
    };
    return reportChange(shell, made, { ...told, sessionIds, reason });
  };
  return changeAccount(shell, idOrEmail, options, { before, change });
}

function questionOf(user: UserDocument, count: number): string {
  const isLast = user.is_password_void && !user.identities?.length;
  const last = isLast ? ' No usable password is left: only a reset by mail lets the holder in.' : '';
  return `Remove all passkeys (${count}) of the account ${describeAccount(user)}? Its sessions end now.${last}`;
}
