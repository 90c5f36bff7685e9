import type { AuthEvent } from '@auth-account/contracts/events';
import type { Binary, Collection } from 'mongodb';
import type { Collections } from './collections.ts';

/** Paths of the fields in a document: `email`, `claims.ver`. */
type FieldOf<D> = { [K in keyof D & string]-?: PathsOf<K, NonNullable<D[K]>> }[keyof D & string];
type Leaf = string | number | boolean | Date | Binary | AuthEvent;
type PathsOf<K extends string, V> = V extends Leaf
  ? K
  : V extends readonly (infer E)[]
    ? PathsOf<K, E>
    : string extends keyof V
      ? K // its keys are data
      : keyof V extends never
        ? K
        : `${K}.${FieldOf<V>}`;

type FieldIn<K extends keyof Collections> = Collections[K] extends Collection<infer D> ? FieldOf<D> : never;

/** Fields: what they hold, whether an export contains them, and how long they are kept if `about` does not say so. */
type StoredRow<Field extends string = string> = readonly [
  fields: readonly Field[],
  what: string,
  isExported?: 'yes' | 'no' | `yes, ${string}`,
  kept?: string,
];

/** Documents of a collection: why and how long they are stored, and a row for each field. */
export interface StoredFields<Field extends string = string> {
  readonly about: string;
  readonly rows: readonly StoredRow<Field>[];
}

type Table = { readonly [K in keyof Collections]: StoredFields<FieldIn<K>> };
type Missing<T extends Table> = {
  [K in keyof Collections]: Exclude<FieldIn<K>, T[K]['rows'][number][0][number]> extends infer F extends string
    ? [F] extends [never]
      ? unknown
      : { readonly fieldsWithoutRow: F }
    : never;
};

/** Returns the table. Does not compile if a field has no row, or a row has no field. */
export function describeAll<const T extends Table>(table: T & Missing<T>): Table {
  return table;
}

/** The personal data that is stored, for docs/privacy.md. */
export const storedFields = describeAll({
  users: {
    about:
      'Ground: contract; `password_hash` and what follows `deletes_at` also security. Kept until the erasure, unless a row says otherwise.',
    rows: [
      [['_id'], 'the `user_id`', 'yes', '[after an erasure too](#kept-after-an-erasure)'],
      [['email', 'email_key'], 'the email address as typed, and in lower case', 'yes'],
      [['password_hash'], 'Argon2id or bcrypt; the password itself is stored nowhere', 'no'],
      [['home_group_id', 'account_type', 'role', 'joined_at'], 'the membership', 'yes'],
      [['joined_by'], 'token of the invite that brought the user into the group', 'no', 'while in that group'],
      [['created_at', 'last_login_at'], 'times of the registration and the latest login or restore', 'yes'],
      [
        ['known_devices'],
        'devices of registration and logins, as their apps named them',
        'yes',
        'the newest 20; until the owner ends their sessions from another one',
      ],
      [['new_device_notices'], 'times of the latest logins on new devices', 'no', 'the newest 10'],
      [
        ['display_name', 'locale'],
        'name that members and invited people see; language of mails',
        'yes',
        'until the person removes them',
      ],
      [['email_verified_at'], 'mail to the email address arrives', 'yes'],
      [
        ['pending_email', 'pending_email_until'],
        'email address of a change under way, and until when',
        'yes',
        'while its code counts: 10 minutes',
      ],
      [
        ['former_emails.email', 'former_emails.until'],
        'email address before a change that can be undone, or that an undo took away; until when',
        'yes',
        '72 h, while the change can be undone',
      ],
      [
        ['former_emails.email_key', 'former_emails.change_id', 'former_emails.verified_at'],
        'that address in lower case, the id of the change, and since when its mail was known to arrive',
        'no',
        'the same',
      ],
      [['password_changed_at'], 'time of the latest change', 'yes'],
      [['password_warned_at'], 'time of the latest mail about used up tries of the password', 'no'],
      [['recovered_at'], 'time of a recovery, from which the limits of the account count', 'no'],
      [['totp.confirmed_at'], 'the second factor is on, since when', 'yes', 'while it is on'],
      [
        ['totp.factor_id', 'totp.kid', 'totp.seed', 'totp.last_step'],
        'seed of the authenticator app, sealed with AES-256-GCM under a server key, and its last code',
        'no',
        'while it is on',
      ],
      [['totp.recovery_key'], 'key of the HMACs of the recovery codes', 'no', 'while it is on'],
      [
        ['totp.removal.due_at'],
        'time of the removal of the second factor that was ordered',
        'yes',
        '72 h, or until it is stopped',
      ],
      [
        ['totp.removal.id', 'totp.removal.ordered_at', 'totp.removal.by'],
        'the order: its id, when, and whether by mail or by staff',
        'no',
        'the same',
      ],
      [
        [
          'pending_totp.factor_id',
          'pending_totp.kid',
          'pending_totp.seed',
          'pending_totp.until',
          'pending_totp.version',
        ],
        'the same of an app that is not confirmed yet',
        'no',
        'an hour',
      ],
      [['recovery_codes'], 'HMACs of the recovery codes', 'yes, their number', 'while the second factor is on'],
      [
        ['trusted_devices.device_id', 'trusted_devices.trusted_at', 'trusted_devices.until'],
        'devices whose logins need no second factor',
        'yes',
        'the newest 20, while the second factor is on',
      ],
      [
        ['trusted_devices.token', 'trusted_devices.version', 'trusted_devices.jkt', 'trusted_devices.identity_id'],
        "SHA-256 of the device's token, of the account's sign-in methods at that time, and of the device's key; the identity by which its login began",
        'no',
        'the same',
      ],
      [
        ['guesses_warned_at'],
        'time of the latest mail about guesses at the second factor',
        'no',
        'while the second factor is on',
      ],
      [
        ['passkeys.id', 'passkeys.name', 'passkeys.is_backed_up', 'passkeys.created_at', 'passkeys.last_used_at'],
        'the passkeys, as their owner named them, and their latest use',
        'yes',
        'until the person removes them',
      ],
      [
        [
          'identities.id',
          'identities.provider',
          'identities.email',
          'identities.created_at',
          'identities.relay_off_at',
          'identities.disabled_at',
        ],
        'identities at providers such as Google, the email address that the provider named, and whether it forwards mail and has disabled its account',
        'yes',
        'until the person removes them',
      ],
      [
        [
          'identities.sub',
          'identities.noticed_at',
          'identities.ended_at',
          'identities.notices.since',
          'identities.notices.count',
          'identities.notices.is_told',
        ],
        "the provider's id of the person, and times and number of its latest security events about them",
        'no',
        'the same',
      ],
      [
        ['identities.refresh_token.kid', 'identities.refresh_token.token', 'identities.refresh_token.client_id'],
        'token by which the consent at the provider is revoked, sealed with AES-256-GCM under a server key, and its app',
        'no',
        'the same',
      ],
      [
        [
          'user_handle',
          'passkeys.credential_id',
          'passkeys.public_key',
          'passkeys.counter',
          'passkeys.transports',
          'passkeys.is_backup_eligible',
        ],
        'random ids that authenticators know, and public keys; no biometric data leaves a device',
        'no',
      ],
      [
        ['is_password_void', 'ways_changed_at'],
        'nobody knows the password; latest change of another sign-in method',
        'no',
      ],
      [
        ['disabled_at', 'disabled_reason', 'disabled_by'],
        'an operator disabled the account: when, why, who',
        'no',
        'until it is enabled again',
      ],
      [['deletes_at'], 'time of the erasure that was ordered', 'no', 'until it is restored'],
      [['erasure.lease', 'erasure.until'], 'the worker that erases the account', 'no', 'seconds'],
      [['sessions_changed_at', 'touches', 'changes'], 'make transactions of one account conflict', 'no'],
      [['spent_touches'], 'bounds the number of live sessions', 'no'],
    ],
  },
  groups: {
    about:
      'Ground: contract. Kept while the group has members, and 30 days longer if it was closed by a leave or an erasure.',
    rows: [
      [['_id', 'account_type'], 'the `home_group_id`, and its kind', 'yes'],
      [['owner_id'], '`user_id` of the owner; of the last one if it is closed', 'yes, as the own `role`'],
      [['name'], 'name that an owner gave it', 'yes', 'removed if the erasure of its last member closes it'],
      [['member_count', 'created_at', 'invites_made', 'closed_at'], 'the state of the group', 'no'],
      [['import_key'], 'key of an import', 'no', 'as the name'],
    ],
  },
  invites: {
    about: 'Ground: contract. Kept until 30 days after they expire.',
    rows: [
      [['_id'], 'the invite token, which is enough to join', 'no'],
      [['created_by'], '`user_id` of the maker', 'yes, as the own invites', "null after the maker's erasure"],
      [
        ['home_group_id', 'created_at', 'expires_at', 'max_uses', 'uses', 'revoked_at'],
        'where to, until when, how often',
        'yes',
      ],
      [['account_type'], 'kind of the group', 'no'],
    ],
  },
  sessions: {
    about:
      'Ground: contract, and security for those that are over. Kept until the erasure, and no longer than a day after `absolute_expires_at` (180 days after the login by default).',
    rows: [
      [['_id', 'device_id', 'device_name', 'platform'], 'the session and its device, as the app named it', 'yes'],
      [['is_device_named'], 'whether the app sent `device_id`', 'no'],
      [['user_id'], 'whose it is', 'yes, as the own sessions'],
      [['claims.home_group_id'], 'group at the latest token', 'yes'],
      [['auth.at', 'auth.amr', 'auth.acr'], 'when and how the user proved who they are', 'yes'],
      [['created_at', 'last_used_at', 'expires_at'], 'times of login, latest use and idle end', 'yes'],
      [['revoked_at', 'revoked_reason'], 'when and why it ended', 'yes'],
      [
        ['is_revoked', 'absolute_expires_at', 'claims.account_type', 'claims.ver', 'claims_changed_at'],
        'its state',
        'no',
      ],
      [
        [
          'token',
          'ahead.kid',
          'ahead.block',
          'ahead.hashes',
          'nonce',
          'kid',
          'gen',
          'parent',
          'floor',
          'handed_out_at',
        ],
        'bookkeeping of refresh tokens; of the tokens only their SHA-256',
        'no',
      ],
      [
        ['created_request_id', 'claims_request_id', 'revoked_request_id', 'revoked_also_close', 'revoked_by'],
        'ids of requests, and of sessions that ended one another',
        'no',
      ],
      [
        ['identity_id', 'revoked_notice'],
        'the identity that opened it, the security event of its provider that ended it',
        'no',
      ],
      [['is_trusted'], 'its login made or used the trust in its device', 'no'],
      [['cnf.jkt'], "thumbprint of the device's key to which the session is bound", 'yes, as `bound`'],
      [['opened_by._id', 'opened_by.fingerprint'], "HMACs of the login's `Idempotency-Key`, caller and body", 'no'],
      [
        ['hold.by', 'hold.until'],
        'keeps refreshes away while a change of the account is written, for seconds; after a crash until the next refresh',
        'no',
      ],
    ],
  },
  erasedSessions: {
    about:
      'Ground: security. Of a session that ended shortly before its account was erased, not whose it was. Kept as long as an access token lives. Not exported: the account is gone.',
    rows: [
      [
        ['_id', 'revoked_at', 'revoked_reason', 'revoked_request_id'],
        'the former session and its end, so that its access tokens stay refused if Redis loses its data',
      ],
      [['purge_at'], 'when it is removed'],
    ],
  },
  idempotency: {
    about:
      "Ground: contract (a lost answer is given again). Kept for 24 hours, those of forced logouts 7 days; the person's until the erasure, if that is sooner. Not exported.",
    rows: [
      [
        ['_id', 'fingerprint'],
        "HMACs of key, caller and body. Of a forced logout: the command's id and target, which may be a `user_id`",
      ],
      [['user_id'], 'whose answer it is; a forced logout has none'],
      [['answer'], 'ids and times; of an invite its token; of a forced logout the ids of the sessions'],
      [['expires_at'], 'end of the record'],
    ],
  },
  challenges: {
    about:
      'Codes that were requested by e-mail; neither the code nor an email address. Ground: security. Kept for a day at most.',
    rows: [
      [['purpose', 'created_at', 'expires_at'], 'what for, when, until when', 'yes'],
      [['user_id'], "whose account; nobody's for an email address without an account", 'yes, as the own codes'],
      [
        [
          '_id',
          'link',
          'kid',
          'tries_left',
          'resends_left',
          'resend_at',
          'resent_by',
          'ended_at',
          'ended_by',
          'purge_at',
        ],
        'its state, and the key that derives the code',
        'no',
      ],
    ],
  },
  consumedProofs: {
    about:
      'Challenges and step-up tokens that were used, so that none is used twice. Ground: security. Kept for some minutes after they would have expired. Not exported: no record names a user.',
    rows: [
      [['_id', 'proof', 'key'], 'SHA-256 of its id, HMACs of the proof with the device, and of the id'],
      [['session_id'], 'the session that it opened'],
      [['at', 'purge_at'], 'when it was used, when the record is removed'],
    ],
  },
  providerRevocations: {
    about:
      'Tokens of providers whose identity or account is gone, until the provider has revoked them, for 30 days at most. Ground: the consent that was withdrawn. Not exported.',
    rows: [
      [['_id', 'user_id', 'provider'], 'the former identity, its account, which may be erased, and the provider'],
      [['client_id', 'kid', 'token'], 'the token, sealed with AES-256-GCM under a server key, and its app'],
      [['created_at', 'due_at', 'attempts'], 'since when, when the worker tries again, how often it has tried'],
    ],
  },
  outbox: {
    about:
      'Events for subscribers: ids and times, no email address, no name, no code. Ground: delivery. Kept until every subscriber has the event, and 7 days longer (`OUTBOX_RETENTION_SECONDS`). An erasure leaves the rows: they tell subscribers of it. Not exported.',
    rows: [
      [['event'], 'the event, with the `user_id` and `home_group_id` that it is about ([events](events.md))'],
      [['_id', 'topic', 'state', 'created_at', 'delivered_at'], 'what and when'],
      [['locked_until', 'held.for', 'held.until', 'lease', 'attempts', 'last_error'], 'who delivers it'],
      [['deliveries', 'dead', 'discarded', 'replays', 'only_for', 'first_failures'], 'subscriber and time'],
      [
        [
          'attempt_log.subscriber',
          'attempt_log.at',
          'attempt_log.outcome',
          'attempt_log.status',
          'attempt_log.error',
          'attempt_log.duration_ms',
        ],
        "the latest attempts; nothing of the answers' bodies",
      ],
    ],
  },
  deadLetters: {
    about:
      'Events that a subscriber did not take. Ground: delivery. Kept until an operator replays or discards them. Not exported.',
    rows: [
      [['event'], 'as in the outbox'],
      [
        [
          '_id',
          'event_id',
          'subscriber',
          'topic',
          'last_error',
          'attempts',
          'first_attempt_at',
          'last_attempt_at',
          'created_at',
        ],
        'what was given up, for whom, and why',
      ],
      [
        [
          'attempt_log.subscriber',
          'attempt_log.at',
          'attempt_log.outcome',
          'attempt_log.status',
          'attempt_log.error',
          'attempt_log.duration_ms',
        ],
        'its attempts',
      ],
    ],
  },
  subscribers: {
    about: 'Not of people. Kept while a subscriber is configured.',
    rows: [
      [
        ['_id', 'configured_at', 'topics', 'parked_at', 'parked_by_event', 'resumed_at', 'retried_at'],
        'state of a subscriber',
      ],
    ],
  },
  upgrades: {
    about: 'Not of people. Kept for good.',
    rows: [
      [['_id', 'version', 'needs', 'opened_at', 'completed_at'], 'a generation of builds, and since when it counts'],
    ],
  },
});
