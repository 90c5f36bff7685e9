import type { AccountEventOf, CodePurpose, Locale } from '@auth-account/contracts/events';
import { type AccountEventOrigin, createAccountEvent } from './create-events.ts';

type SecondFactorChangedEvent = AccountEventOf<'service.auth.events.second_factor_changed'>;
type Notice = AccountEventOf<'service.auth.events.notice'>;
type PasswordChangedEvent = AccountEventOf<'service.auth.events.password_changed'>;

/** Returns the origin of another event of the same change. */
type NextOrigin = () => AccountEventOrigin;

/** A change of the password, or its removal. */
export interface PasswordChange {
  readonly user_id: string;
  readonly reason: PasswordChangedEvent['data']['reason'];
  /** Language of the mail. */
  readonly locale: Locale;
  /** Number of open invites that were revoked with the change. */
  readonly invites_revoked?: number;
}

/** Returns the events of a change of the password: for subscribers, and the notification of the account's holder. */
export function passwordChangedEvents(
  { user_id, reason, locale, invites_revoked }: PasswordChange,
  nextOrigin: NextOrigin,
): [PasswordChangedEvent, Notice] {
  const origin = nextOrigin();
  const changed = { user_id, changed_at: origin.at.toISOString(), reason };
  const revoked = invites_revoked === undefined ? {} : { invites_revoked };
  const notice = { user_id, purpose: 'password_changed', locale, ...revoked } as const;
  return [
    createAccountEvent('service.auth.events.password_changed', changed, origin),
    createAccountEvent('service.auth.events.notice', notice, nextOrigin()),
  ];
}

/** A code that is to be sent. */
export interface RequestedCode {
  /** Challenge of the code, as it is stored. */
  readonly challenge: {
    readonly _id: string;
    readonly user_id: string;
    readonly purpose: CodePurpose;
    readonly expires_at: Date;
  };
  /** Provider whose identity the code links. */
  readonly provider?: string | undefined;
  /** Language of the mail. */
  readonly locale: Locale;
}

/** Returns the event by which a code is sent. The worker derives the code when it sends the mail. */
export function codeRequestedEvent(
  { challenge: { _id: challenge_id, user_id, purpose, expires_at }, provider, locale }: RequestedCode,
  origin: AccountEventOrigin,
): AccountEventOf<'service.auth.events.code_requested'> {
  const named = provider === undefined ? {} : { provider };
  const data = { challenge_id, user_id, purpose, ...named, locale, expires_at: expires_at.toISOString() };
  return createAccountEvent('service.auth.events.code_requested', data, origin);
}

/** An order to delete an account. */
export interface DeletionOrder {
  readonly user_id: string;
  /** Time of the erasure. */
  readonly deletesAt: Date;
  /** Language of the mail. */
  readonly locale: Locale;
}

/**
 * Returns the events of an order to delete an account: for subscribers, and the notification of the account's holder.
 */
export function deletionScheduledEvents(
  { user_id, deletesAt, locale }: DeletionOrder,
  nextOrigin: NextOrigin,
): [AccountEventOf<'service.auth.events.deletion_scheduled'>, Notice] {
  const origin = nextOrigin();
  const deletes_at = deletesAt.toISOString();
  const scheduled = { user_id, scheduled_at: origin.at.toISOString(), deletes_at };
  const notice = { user_id, purpose: 'deletion_scheduled', locale, deletes_at } as const;
  return [
    createAccountEvent('service.auth.events.deletion_scheduled', scheduled, origin),
    createAccountEvent('service.auth.events.notice', notice, nextOrigin()),
  ];
}

/** Returns the events of a cancelled deletion: for subscribers, and the notification of the account's holder. */
export function deletionCancelledEvents(
  { user_id, locale }: Pick<DeletionOrder, 'user_id' | 'locale'>,
  nextOrigin: NextOrigin,
): [AccountEventOf<'service.auth.events.deletion_cancelled'>, Notice] {
  const origin = nextOrigin();
  const notice = { user_id, purpose: 'deletion_cancelled', locale } as const;
  return [
    createAccountEvent(
      'service.auth.events.deletion_cancelled',
      { user_id, cancelled_at: origin.at.toISOString() },
      origin,
    ),
    createAccountEvent('service.auth.events.notice', notice, nextOrigin()),
  ];
}

/** A change of an account's second factor. */
export interface SecondFactorChange {
  readonly user_id: string;
  readonly change: SecondFactorChangedEvent['data']['change'];
  /** Language of the mail. */
  readonly locale: Locale;
  readonly recovery_codes_left: number;
}

const factorNotifications = {
  switched_on: 'second_factor_on',
  replaced: 'second_factor_on',
  switched_off: 'second_factor_off',
  recovery_codes: 'recovery_codes',
} as const;

/**
 * Returns the events of a change of the second factor: for subscribers, and the notification of the account's holder.
 */
export function secondFactorChangedEvents(
  { user_id, change, locale, recovery_codes_left }: SecondFactorChange,
  nextOrigin: NextOrigin,
): [SecondFactorChangedEvent, Notice] {
  const origin = nextOrigin();
  const changed = { user_id, changed_at: origin.at.toISOString(), change };
  const left = change === 'recovery_codes' ? { recovery_codes_left } : {};
  const notice = { user_id, purpose: factorNotifications[change], locale, ...left } as const;
  return [
    createAccountEvent('service.auth.events.second_factor_changed', changed, origin),
    createAccountEvent('service.auth.events.notice', notice, nextOrigin()),
  ];
}

/** An order to remove a second factor. */
export interface RemovalOrder {
  readonly user_id: string;
  readonly removal: { readonly id: string; readonly due_at: Date };
  /** Language of the mail. */
  readonly locale: Locale;
}

/** Returns the notification of an ordered removal of the second factor. Its mail has a token that stops the removal. */
export function removalOrderedNotification(
  { user_id, removal: { id: removal_id, due_at }, locale }: RemovalOrder,
  origin: AccountEventOrigin,
): Notice {
  const order = { removal_id, due_at: due_at.toISOString() };
  const notice = { user_id, purpose: 'second_factor_removal_ordered', locale, ...order } as const;
  return createAccountEvent('service.auth.events.notice', notice, origin);
}

/** A passkey that was added to an account or removed from it. */
export interface PasskeyChange {
  readonly user_id: string;
  readonly passkey_id: string;
  /** Language of the mail. */
  readonly locale: Locale;
}

/** Returns the events of a new passkey: for subscribers, and the notification of the account's holder. */
export function passkeyAddedEvents(
  { user_id, passkey_id, locale }: PasskeyChange,
  nextOrigin: NextOrigin,
): [AccountEventOf<'service.auth.events.passkey_added'>, Notice] {
  const origin = nextOrigin();
  const added = { user_id, passkey_id, added_at: origin.at.toISOString() };
  const notice = { user_id, purpose: 'passkey_added', locale } as const;
  return [
    createAccountEvent('service.auth.events.passkey_added', added, origin),
    createAccountEvent('service.auth.events.notice', notice, nextOrigin()),
  ];
}

/** Returns the event for subscribers of a passkey that was removed. */
export function passkeyRemovedEvent(
  { user_id, passkey_id }: Omit<PasskeyChange, 'locale'>,
  origin: AccountEventOrigin,
): AccountEventOf<'service.auth.events.passkey_removed'> {
  const removed = { user_id, passkey_id, removed_at: origin.at.toISOString() };
  return createAccountEvent('service.auth.events.passkey_removed', removed, origin);
}

/** Returns the events of a removed passkey: for subscribers, and the notification of the account's holder. */
export function passkeyRemovedEvents(
  { locale, ...removed }: PasskeyChange,
  nextOrigin: NextOrigin,
): [AccountEventOf<'service.auth.events.passkey_removed'>, Notice] {
  const notice = { user_id: removed.user_id, purpose: 'passkey_removed', locale } as const;
  return [
    passkeyRemovedEvent(removed, nextOrigin()),
    createAccountEvent('service.auth.events.notice', notice, nextOrigin()),
  ];
}

/** Returns the event for subscribers of a second factor that a recovery has switched off. */
export function secondFactorRemovedEvent(
  { user_id }: Pick<SecondFactorChange, 'user_id'>,
  origin: AccountEventOrigin,
): SecondFactorChangedEvent {
  const changed = { user_id, changed_at: origin.at.toISOString(), change: 'switched_off' } as const;
  return createAccountEvent('service.auth.events.second_factor_changed', changed, origin);
}

/** An identity that was linked to an account or removed from it. */
export interface IdentityChange {
  readonly user_id: string;
  readonly identity_id: string;
  /** Name of the provider. */
  readonly provider: string;
  /** Language of the mail. */
  readonly locale: Locale;
}

/** Returns the events of a new identity: for subscribers, and the notification of the account's holder. */
export function identityLinkedEvents(
  { locale, ...identity }: IdentityChange,
  nextOrigin: NextOrigin,
): [AccountEventOf<'service.auth.events.identity_linked'>, Notice] {
  const origin = nextOrigin();
  const linked = { ...identity, linked_at: origin.at.toISOString() };
  const notice = { user_id: identity.user_id, purpose: 'identity_linked', locale } as const;
  return [
    createAccountEvent('service.auth.events.identity_linked', linked, origin),
    createAccountEvent('service.auth.events.notice', notice, nextOrigin()),
  ];
}

/** Returns the event for subscribers of an identity that was removed. */
export function identityUnlinkedEvent(
  identity: Omit<IdentityChange, 'locale'>,
  origin: AccountEventOrigin,
): AccountEventOf<'service.auth.events.identity_unlinked'> {
  const unlinked = { ...identity, unlinked_at: origin.at.toISOString() };
  return createAccountEvent('service.auth.events.identity_unlinked', unlinked, origin);
}

/** Returns the events of a removed identity: for subscribers, and the notification of the account's holder. */
export function identityUnlinkedEvents(
  { locale, ...identity }: IdentityChange,
  nextOrigin: NextOrigin,
): [AccountEventOf<'service.auth.events.identity_unlinked'>, Notice] {
  const notice = { user_id: identity.user_id, purpose: 'identity_unlinked', locale } as const;
  return [
    identityUnlinkedEvent(identity, nextOrigin()),
    createAccountEvent('service.auth.events.notice', notice, nextOrigin()),
  ];
}
