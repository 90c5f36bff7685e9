import type { AuthEvent, Locale } from '@auth-account/contracts/events';
import type { AccountEventOrigin } from '@auth-account/messaging';
import { identityUnlinkedEvents, passkeyRemovedEvents } from '@auth-account/messaging/account-events';
import { countsAnew, nextChangeOfMethods } from '@auth-account/stores/credentials';
import type { UserDocument } from '@auth-account/stores/documents';
import { everAdded, type RemovedMethods } from '@auth-account/stores/method-removals';
import type { ClientSession } from 'mongodb';
import { announceEnd, type EndingContext } from './announce-end.ts';
import { type AccountChange, accountChanged, describeAccount, planChange, refused } from './change-account.ts';

/** The kinds of sign-in methods that an operator removes. */
export const kindsOfSignInMethods = ['passkeys', 'identities'] as const;
type Kind = (typeof kindsOfSignInMethods)[number];

const reason = 'forced';

/**
 * Plans to remove all passkeys and identities of an account, or all of one kind, because somebody else may have added
 * one. All sessions and open codes of the account end in the same transaction, and so does the trust in its devices. The
 * password and the second factor stay. Throws what `planChange` throws, `refused` if there is nothing to remove.
 */
export function planRemovalOfMethods(
  context: EndingContext,
  idOrEmail: string,
  { only }: { readonly only?: Kind | undefined } = {},
) {
  const kinds = only === undefined ? kindsOfSignInMethods : [only];
  const refuse = (user: UserDocument) => {
    if (signInMethodsOf(user, kinds).length === 0)
      throw refused(`The account ${user._id} has no ${kinds.join(' or ')}.`);
  };
  const questionOf = (user: UserDocument) => describeRemoval(user, kinds);
  const change = async (made: AccountChange) => {
    const { removed, sessionIds } = await write(made, kinds);
    for (const { audited } of signInMethodsOf(removed, kinds)) made.audit({ ...audited, operator_reason: made.reason });
    const counts = countsOf(removed, kinds);
    const done = { event: 'account.ways_removed', audited: counts, facts: counts };
    return announceEnd(context, made, { ...done, sessionIds, reason });
  };
  return planChange(context, idOrEmail, { refuse, questionOf, change });
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
  const { transaction, stores, user, at, requestId, nextOrigin } = made;
  const { _id: userId, pending_email_until, locale = 'en' } = user;
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

/** Returns the numbers of sign-in methods as text for people: `passkeys (2), identities (0)`. */
export function describeCounts(counts: Partial<Record<Kind, number>>): string {
  return kindsOfSignInMethods.flatMap((kind) => (kind in counts ? `${kind} (${counts[kind]})` : [])).join(', ');
}

function describeRemoval(user: UserDocument, kinds: readonly Kind[]): string {
  const isLast =
    user.is_password_void && kindsOfSignInMethods.every((kind) => kinds.includes(kind) || !user[kind]?.length);
  const last = isLast ? ' No usable password is left: only a reset by mail lets the holder in.' : '';
  const removed = describeCounts(countsOf(user, kinds));
  return `Remove ${removed} of the account ${describeAccount(user)}? Its sessions end now.${last}`;
}
