import { passwordChangedEvents } from '@auth-account/messaging/account-events';
import { countsAnew, passwordFields } from '@auth-account/stores/credentials';
import type { UserDocument } from '@auth-account/stores/documents';
import { unusableHash } from '@auth-account/stores/unusable-hash';
import type { ClientSession } from 'mongodb';
import { announceEnd, type EndingContext } from './announce-end.ts';
import { type AccountChange, accountChanged, describeAccount, planChange } from './change-account.ts';

const reason = 'password_changed';

/**
 * Plans to make the password of an account unusable, so that nobody can log in by password until the holder has set a
 * new one with a code from the mailbox. Passkeys and the second factor stay. Only the holder's app can request that
 * code. All sessions, open codes and open invites of the account end in the same transaction. The transaction writes the
 * user's document, as every login does, so that no login is missed. Throws what `planChange` throws.
 */
export function planPasswordReset(context: EndingContext, idOrEmail: string) {
  const questionOf = (user: UserDocument) => {
    const already = user.is_password_void ? ' The password is unusable already.' : '';
    return `Make the password of the account ${describeAccount(user)} unusable? Its sessions end now.${already}`;
  };
  const change = async (made: AccountChange) => {
    const { transaction, stores, user, at, requestId, nextOrigin } = made;
    const { _id: user_id, locale = 'en' } = user;
    const password_hash = unusableHash(user.password_hash);
    const work = async (session: ClientSession) => {
      const fields = { ...passwordFields(password_hash, user, at, true), ...countsAnew(user, at, user.created_at) };
      if (!(await stores.users.changeIfUnchanged(user, fields, session))) throw accountChanged(user);
      await stores.challenges.endAll(user_id, at, session);
      const { ended } = await stores.sessions.revokeOf(user_id, { reason, at, requestId }, session);
      const invites_revoked = await stores.invites.revokeMadeBy(user_id, at, session);
      const notified = { user_id, reason: 'operator', locale, invites_revoked } as const;
      for (const event of passwordChangedEvents(notified, nextOrigin)) await stores.outbox.append(event, at, session);
      return { sessionIds: ended, invites_revoked };
    };
    const isCommitted = () => stores.users.hasPasswordHash(user_id, password_hash);
    const hold = stores.sessions.holdOf([user_id]);
    const { sessionIds, invites_revoked } = await transaction(work, { isCommitted, hold });
    const facts = { password_changed_at: at, invites_revoked };
    const audited = { invites_revoked };
    return announceEnd(context, made, { event: 'account.password_voided', audited, sessionIds, reason, facts });
  };
  return planChange(context, idOrEmail, { questionOf, change });
}
