import { codeResendSeconds } from '@auth-account/contracts/http/challenges';
import { codeRequestedEvent } from '@auth-account/messaging/account-events';
import { newResend, resendTime } from '@auth-account/stores/challenges';
import type { ChallengeDocument, UserDocument } from '@auth-account/stores/documents';
import { isRecipient } from '@auth-account/stores/email-changes';
import type { ClientSession } from 'mongodb';
import {
  type AccountChange,
  type AccountContext,
  accountChanged,
  describeAccount,
  planChange,
  refused,
} from './change-account.ts';

/**
 * Plans to send the account's newest open code once more, to the mailbox that it was sent to. The rules are those of the
 * app's own resend, which counts it too. Throws what `planChange` throws, `refused` if no code is open, if the code may
 * not be sent again yet or any more, or if another account has its address.
 */
export function planResendOfCode(context: AccountContext, idOrEmail: string) {
  const questionOf = async (user: UserDocument, now: Date) => {
    const { purpose, resends_left } = await findDue(context, user, now);
    const left = `It can be sent ${resends_left} more time${resends_left === 1 ? '' : 's'}.`;
    return `Send the code for ${purpose} of the account ${describeAccount(user)} again? ${left}`;
  };
  const change = async (made: AccountChange) => {
    const { transaction, stores, user, at, requestId, nextOrigin } = made;
    const { _id: user_id, locale = 'en' } = user;
    const { _id, purpose, ...seen } = await findDue(made, user, at);
    const resend = newResend(at, codeResendSeconds);
    const event = codeRequestedEvent({ challenge: { ...seen, _id, purpose }, locale }, nextOrigin());
    const work = async (session: ClientSession) => {
      const taken = await stores.challenges.takeResend({ _id, purpose }, resend, at, session);
      if (taken === undefined) throw accountChanged(user);
      await stores.outbox.append(event, at, session);
      return taken.resends_left;
    };
    const isCommitted = () => stores.challenges.wasResent(_id, resend.resent_by);
    const resends_left = await transaction(work, { isCommitted });
    made.audit({ event: 'code.resent', purpose, operator_reason: made.reason });
    return { user_id, purpose, resends_left, request_id: requestId };
  };
  return planChange(context, idOrEmail, { questionOf, change });
}

async function findDue(
  { stores: { challenges, emailChanges } }: Pick<AccountContext, 'stores'>,
  user: UserDocument,
  now: Date,
): Promise<ChallengeDocument> {
  const found = await challenges.findOpen(user._id, undefined, now);
  if (found === undefined) throw refused(`The account ${user._id} has no open code. Its holder must request one.`);
  const time = resendTime(found);
  if (found.resends_left === 0)
    throw refused(
      `The code cannot be sent again. It expires at ${time.toISOString()}; its holder can request another.`,
    );
  if (time > now) throw refused(`The code may be sent again from ${time.toISOString()} on.`);
  if (await isRecipient(emailChanges, user, found.purpose, now)) return found;
  throw refused('The code is sent to nobody, because another account has its email address.');
}
