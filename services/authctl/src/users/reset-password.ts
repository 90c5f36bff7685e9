import { eventOrigin } from '@auth-account/messaging';
import { passwordChangedEvents } from '@auth-account/messaging/account-events';
import { runTransaction } from '@auth-account/stores';
import type { UserDocument } from '@auth-account/stores/documents';
import { passwordFields } from '@auth-account/stores/users';
import type { ClientSession } from 'mongodb';
import { v7 } from 'uuid';
import type { Outcome, Shell } from '../cli/shell.ts';
import { type AccountChange, changeAccount, changedMeanwhile, type OperatorOptions } from './change-account.ts';
import { describeAccount } from './describe-account.ts';
import { reportChange } from './report-change.ts';
import { voidHash } from './void-hash.ts';

export interface ResetPasswordOptions extends OperatorOptions {
  readonly yes?: true | undefined;
}

const reason = 'password_changed';

/**
 * Makes the password of an account void: nobody logs in until its holder has set another one with a code from the
 * mailbox, which only their own app can ask for. All sessions and open codes end in the same transaction. It writes the
 * user's document, like every login, so that no login slips past.
 */
export function resetPassword(shell: Shell, idOrEmail: string, options: ResetPasswordOptions): Promise<Outcome> {
  const before = async (user: UserDocument) => {
    const question = `Make the password of the account ${describeAccount(user)} void? Its sessions end now.`;
    if (!options.yes) await shell.confirm(question);
  };
  const change = async (made: AccountChange) => {
    const { client, stores, user, at, requestId } = made;
    const { _id: user_id, locale = 'en' } = user;
    const password_hash = voidHash(user.password_hash);
    const nextOrigin = () => eventOrigin({ requestId }, at, { entityId: v7 });
    const events = passwordChangedEvents({ user_id, reason: 'operator', locale }, nextOrigin);
    const work = async (session: ClientSession) => {
      const fields = passwordFields(password_hash, user, at);
      if (!(await stores.users.changeFresh(user, fields, session))) throw changedMeanwhile(user);
      await stores.challenges.endAll(user_id, at, session);
      const { ended } = await stores.sessions.revokeOf(user_id, { reason, at, requestId }, session);
      for (const event of events) await stores.outbox.append(event, at, session);
      return ended;
    };
    const isCommitted = () => stores.users.hasPasswordHash(user_id, password_hash);
    const sessionIds = await runTransaction(client, work, { isCommitted });
    const done = 'The password is void until it is reset in the app ("forgotten password").';
    const facts = { password_changed_at: at };
    return reportChange(shell, made, { event: 'account.password_voided', sessionIds, reason, facts, done });
  };
  return changeAccount(shell, idOrEmail, options, { before, change });
}
