import type { AuthEvent, Locale } from '@auth-account/contracts/events';
import { type AccountEventOrigin, eventOrigin } from '@auth-account/messaging';
import { identityUnlinkedEvents, passkeyRemovedEvents } from '@auth-account/messaging/account-events';
import { countsAnew, nextChangeOfMethods } from '@auth-account/stores/credentials';
import type { UserDocument } from '@auth-account/stores/documents';
import { everAdded, type RemovedMethods } from '@auth-account/stores/method-removals';
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

/** The kinds of sign-in methods that the command removes. */
export const kindsOfSignInMethods = ['passkeys', 'identities'] as const;
type Kind = (typeof kindsOfSignInMethods)[number];

export interface RemoveSignInMethodsOptions extends OperatorOptions {
  readonly only?: Kind | undefined;
  readonly yes?: true | undefined;
}

const reason = 'forced';

/**
 * Removes all passkeys and identities of an account, or all of one kind, because somebody else may have added one. All
 * sessions and open codes of the account end in the same transaction, and so does the trust in its devices. The password
 * and the second factor stay.
 */
export function removeSignInMethods(
  shell: Shell,
  idOrEmail: string,
  options: RemoveSignInMethodsOptions,
): Promise<Outcome> {
  const kinds = options.only === undefined ? kindsOfSignInMethods : [options.only];
  const before = async (user: UserDocument) => {
    if (signInMethodsOf(user, kinds).length === 0)
      throw new CommandError(`The account ${user._id} has no ${kinds.join(' or ')}.`);
    if (!options.yes) await shell.confirm(questionOf(user, kinds));
  };
  const change = async (made: AccountChange) => {
    const { removed, sessionIds } = await write(made, kinds);
    for (const { audited } of signInMethodsOf(removed, kinds)) made.audit({ ...audited, operator_reason: made.reason });
    const counts = countsOf(removed, kinds);
    const notified = {
      event: 'account.ways_removed',
      audited: counts,
      facts: counts,
      done: `Removed: ${textOf(counts)}.`,
    };
    return reportChange(shell, made, { ...notified, sessionIds, reason });
  };
  return changeAccount(shell, idOrEmail, options, { before, change });
}

/** A sign-in method that is to be removed. */
interface SignInMethod {
  /** Its record in the audit log. */
  readonly audited: { readonly event: string; readonly [field: string]: string };
  events(user_id: string, locale: Locale, nextOrigin: () => AccountEventOrigin): readonly AuthEvent[];
}

function signInMethodsOf(
  { passkeys = [], identities = [] }: Partial<RemovedMethods>,
  kinds: readonly Kind[],
): SignInMethod[] {
  const ofPasskeys = passkeys.map(({ id: passkey_id }): SignInMethod => {
    return {
      audited: { event: 'passkey.removed', passkey_id },
      events: (user_id, locale, next) => passkeyRemovedEvents({ user_id, passkey_id, locale }, next),
    };
  });
  const ofIdentities = identities.map(({ id: identity_id, provider }): SignInMethod => {
    const identity = { identity_id, provider };
    return {
      audited: { event: 'identity.unlinked', ...identity },
      events: (user_id, locale, next) => identityUnlinkedEvents({ user_id, ...identity, locale }, next),
    };
  });
  return [...(kinds.includes('passkeys') ? ofPasskeys : []), ...(kinds.includes('identities') ? ofIdentities : [])];
}

/** The change that the transaction has made. */
interface Written {
  readonly removed: RemovedMethods;
  readonly sessionIds: readonly string[];
}

/** Removes the sign-in methods in one transaction. */
function write(made: AccountChange, kinds: readonly Kind[]): Promise<Written> {
  const { transaction, stores, user, at, requestId } = made;
  const { _id: userId, pending_email_until, locale = 'en' } = user;
  const nextOrigin = () => eventOrigin({ requestId }, at, { entityId: v7 });
  const lapsed = pending_email_until && { pending_email_until: at };
  const fields = {
    ways_changed_at: nextChangeOfMethods(user, at),
    ...lapsed,
    ...countsAnew(user, at, user.created_at),
  };
  const signInMethods = Object.fromEntries(kinds.map((kind) => [kind, everAdded]));
  let firstEvent = '';
  const work = async (session: ClientSession) => {
    const removed = await stores.users.recover(user, { fields, signInMethods, at }, session);
    const events = signInMethodsOf(removed ?? {}, kinds).flatMap((signInMethod) =>
      signInMethod.events(userId, locale, nextOrigin),
    );
    if (removed === undefined || events.length === 0) throw accountChanged(user);
    firstEvent = events[0]?.id ?? '';
    await stores.challenges.endAll(userId, at, session);
    const { ended } = await stores.sessions.revokeOf(userId, { reason, at, requestId }, session);
    for (const event of events) await stores.outbox.append(event, at, session);
    return { removed, sessionIds: ended };
  };
  const isCommitted = () => stores.outbox.exists(firstEvent);
  return transaction(work, { isCommitted, hold: stores.sessions.holdOf([userId]) });
}

/** Returns the number of methods of each kind. */
function countsOf(signInMethods: Partial<RemovedMethods>, kinds: readonly Kind[]): Partial<Record<Kind, number>> {
  return Object.fromEntries(kinds.map((kind) => [kind, signInMethods[kind]?.length ?? 0]));
}

function textOf(counts: Partial<Record<Kind, number>>): string {
  return Object.entries(counts)
    .map(([kind, count]) => `${kind} (${count})`)
    .join(', ');
}

function questionOf(user: UserDocument, kinds: readonly Kind[]): string {
  const isLast =
    user.is_password_void && kindsOfSignInMethods.every((kind) => kinds.includes(kind) || !user[kind]?.length);
  const last = isLast ? ' No usable password is left: only a reset by mail lets the holder in.' : '';
  const removed = textOf(countsOf(user, kinds));
  return `Remove ${removed} of the account ${describeAccount(user)}? Its sessions end now.${last}`;
}
