import { CodePurpose, Locale, Timestamp, Uuid } from '../http/fields.ts';
import * as Type from '../type.ts';
import { CloudEvent } from './cloud-event.ts';
import { type RegisteredEvent, registeredTopic } from './registered.ts';

export { CodePurpose, Locale };

/**
 * Subject of a notification of the account's holder. `address_in_use` means that another user wanted to change their
 * email address to this account's, `password_guessed` that no further wrong password gets a verdict, and
 * `second_factor_guessed` that somebody has passed the first step of logins and then guessed the second factor.
 */
export const NotificationPurpose = Type.Enum([
  'new_device',
  'password_changed',
  'password_guessed',
  'email_changed',
  'deletion_scheduled',
  'deletion_cancelled',
  'address_in_use',
  'second_factor_on',
  'second_factor_off',
  'second_factor_guessed',
  'second_factor_removal_ordered',
  'second_factor_removal_stopped',
  'recovery_codes',
  'passkey_added',
  'passkey_removed',
  'identity_linked',
  'identity_unlinked',
  'provider_notice',
]);
export type NotificationPurpose = Type.Static<typeof NotificationPurpose>;

/**
 * JWE of a JSON object with `email`, and with `code`, `undo_token` or `stop_token`. Only webhooks that have a key of their own get
 * this secret.
 */
const secret = Type.Optional(Type.String({ minLength: 1 }));

/**
 * Says that a code must be sent by e-mail. The worker adds the code and the email address when it delivers the event.
 */
export const CodeRequestedEvent = CloudEvent(
  'service.auth.events.code_requested',
  Type.Object({
    challenge_id: Uuid,
    user_id: Uuid,
    purpose: CodePurpose,
    /** For `identity_link`: name of the provider whose identity will be linked. */
    provider: Type.Optional(Type.String()),
    /** Language of the mail. */
    locale: Locale,
    /** Time from which a mail is useless and the event is dropped. */
    expires_at: Timestamp,
    secret,
  }),
);
export type CodeRequestedEvent = Type.Static<typeof CodeRequestedEvent>;

/** Says that the account's holder must be notified of a change. */
export const NotificationEvent = CloudEvent(
  'service.auth.events.notice',
  Type.Object({
    user_id: Uuid,
    purpose: NotificationPurpose,
    locale: Locale,
    /**
     * For `new_device`: the session that was opened. Missing if the notification is about a restore, because a restore
     * opens no session.
     */
    session_id: Type.Optional(Uuid),
    /** For `provider_notice`: name of the provider. */
    provider: Type.Optional(Type.String()),
    /** For `email_changed`: the change that the notification of the old address can undo. */
    email_change_id: Type.Optional(Uuid),
    /** For `deletion_scheduled`: the time of the erasure. */
    deletes_at: Type.Optional(Timestamp),
    /** For `second_factor_removal_ordered`: the order, which the notification can stop, and the time of the removal. */
    removal_id: Type.Optional(Uuid),
    due_at: Type.Optional(Timestamp),
    /**
     * For `password_changed`: the number of the account's open invites that were revoked too. Missing for kinds of
     * change that never revoke invites.
     */
    invites_revoked: Type.Optional(Type.Integer({ minimum: 0 })),
    /** For `recovery_codes`: the number of codes that are left after new ones were made, or one was used. */
    recovery_codes_left: Type.Optional(Type.Integer({ minimum: 0 })),
    secret,
  }),
);
export type NotificationEvent = Type.Static<typeof NotificationEvent>;

export const EmailVerifiedEvent = CloudEvent(
  'service.auth.events.email_verified',
  Type.Object({ user_id: Uuid, verified_at: Timestamp }),
);
export const PasswordChangedEvent = CloudEvent(
  'service.auth.events.password_changed',
  Type.Object({
    user_id: Uuid,
    changed_at: Timestamp,
    /**
     * Reason of the change. The last four made the password unusable: `undone` (a change of the email address was
     * undone), `operator`, and `deletion` and `login` (both from the mailbox of an email address that was never
     * verified).
     */
    reason: Type.Enum(['changed', 'reset', 'undone', 'operator', 'deletion', 'login']),
  }),
);
export const EmailChangedEvent = CloudEvent(
  'service.auth.events.email_changed',
  Type.Object({ user_id: Uuid, changed_at: Timestamp, is_undone: Type.Boolean() }),
);
export const SecondFactorChangedEvent = CloudEvent(
  'service.auth.events.second_factor_changed',
  Type.Object({
    user_id: Uuid,
    changed_at: Timestamp,
    /** `replaced`: another authenticator app; `recovery_codes`: new ones. */
    change: Type.Enum(['switched_on', 'replaced', 'switched_off', 'recovery_codes']),
  }),
);
export const PasskeyAddedEvent = CloudEvent(
  'service.auth.events.passkey_added',
  Type.Object({ user_id: Uuid, passkey_id: Uuid, added_at: Timestamp }),
);
export const PasskeyRemovedEvent = CloudEvent(
  'service.auth.events.passkey_removed',
  Type.Object({ user_id: Uuid, passkey_id: Uuid, removed_at: Timestamp }),
);
export const IdentityLinkedEvent = CloudEvent(
  'service.auth.events.identity_linked',
  Type.Object({ user_id: Uuid, identity_id: Uuid, provider: Type.String(), linked_at: Timestamp }),
);
export const IdentityUnlinkedEvent = CloudEvent(
  'service.auth.events.identity_unlinked',
  Type.Object({ user_id: Uuid, identity_id: Uuid, provider: Type.String(), unlinked_at: Timestamp }),
);
export const DeletionScheduledEvent = CloudEvent(
  'service.auth.events.deletion_scheduled',
  Type.Object({ user_id: Uuid, scheduled_at: Timestamp, deletes_at: Timestamp }),
);
export const DeletionCancelledEvent = CloudEvent(
  'service.auth.events.deletion_cancelled',
  Type.Object({ user_id: Uuid, cancelled_at: Timestamp }),
);
export const DeletedEvent = CloudEvent(
  'service.auth.events.deleted',
  Type.Object({ user_id: Uuid, home_group_id: Uuid, deleted_at: Timestamp }),
);

/**
 * Topic → schema of the events of an account's life after its registration. Like the registration event, they contain
 * no email address, code or name.
 */
export const accountEvents = {
  'service.auth.events.code_requested': CodeRequestedEvent,
  'service.auth.events.notice': NotificationEvent,
  'service.auth.events.email_verified': EmailVerifiedEvent,
  'service.auth.events.password_changed': PasswordChangedEvent,
  'service.auth.events.email_changed': EmailChangedEvent,
  'service.auth.events.second_factor_changed': SecondFactorChangedEvent,
  'service.auth.events.passkey_added': PasskeyAddedEvent,
  'service.auth.events.passkey_removed': PasskeyRemovedEvent,
  'service.auth.events.identity_linked': IdentityLinkedEvent,
  'service.auth.events.identity_unlinked': IdentityUnlinkedEvent,
  'service.auth.events.deletion_scheduled': DeletionScheduledEvent,
  'service.auth.events.deletion_cancelled': DeletionCancelledEvent,
  'service.auth.events.deleted': DeletedEvent,
} as const;

export type AccountTopic = keyof typeof accountEvents;
export type AccountEventOf<Topic extends AccountTopic> = Type.Static<(typeof accountEvents)[Topic]>;
export type AccountEvent = { [Topic in AccountTopic]: AccountEventOf<Topic> }[AccountTopic];

/** Every event of this service. */
export type AuthEvent = RegisteredEvent | AccountEvent;

/** Topic of requests for codes. Codes are valid for minutes, so these requests do not wait behind other events. */
export const urgentTopic = 'service.auth.events.code_requested' satisfies AccountTopic;

/** Topics that a subscriber of the kind `smtp` takes. */
export const mailTopics = [urgentTopic, 'service.auth.events.notice'] as const satisfies readonly AccountTopic[];

/** BullMQ queue for the registration event alone. The channel has the same name as the event's topic. */
export const registeredChannel = registeredTopic;

/** BullMQ queue of all account events. The names of the subscribers' queues for these events begin with this name. */
export const accountChannel = 'service.auth.events.account';

/** BullMQ queues into which the api publishes. For each of these queues, each subscriber has a queue of its own. */
export const eventChannels = [registeredChannel, accountChannel] as const;
export type EventChannel = (typeof eventChannels)[number];

/** Returns the channel of an event with that `type`. */
export function channelOf(topic: string): EventChannel {
  return topic === registeredTopic ? registeredChannel : accountChannel;
}
