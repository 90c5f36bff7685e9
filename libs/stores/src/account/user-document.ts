import type { AccountType, GroupRole } from '@auth-account/contracts';
import type { Locale } from '@auth-account/contracts/events';
import type { Binary } from 'mongodb';

/** Collection `users`. */
export interface UserDocument {
  /** UUIDv7. */
  readonly _id: string;
  /** Email address as the user typed it. */
  readonly email: string;
  /** Lower-cased email address. Unique. */
  readonly email_key: string;
  /** PHC string (Argon2id) or bcrypt. */
  readonly password_hash: string;
  readonly home_group_id: string;
  readonly account_type: AccountType;
  readonly role: GroupRole;
  readonly created_at: Date;
  /** Time at which the user joined the present group. */
  readonly joined_at: Date;
  /**
   * Token of the invite by which the user joined the present group; also missing for joins before this field existed.
   */
  readonly joined_by?: string;
  /** Time of the latest login or restore. */
  readonly last_login_at?: Date;
  /**
   * Devices of the registration and of logins, newest last: `device_id`, or `unnamed` for clients without a
   * `device_id`. At most 20. Missing if there was no device yet, or if the account is older than this field; empty if
   * all devices were forgotten.
   */
  readonly known_devices?: readonly string[];
  /**
   * Times of logins on new devices that count towards the daily limit of notifications, newest last. At most 10. A
   * further login that day is neither mailed nor added.
   */
  readonly new_device_notices?: readonly Date[];
  /** Name that the other members and invited people see. */
  readonly display_name?: string;
  /** Language of mails; missing if the user has not chosen one. */
  readonly locale?: Locale;
  /** Time at which the user proved that mail to the email address arrives. */
  readonly email_verified_at?: Date;
  /** New email address of a change that is not confirmed yet, as the user typed it. */
  readonly pending_email?: string;
  /** Time at which that change lapses. */
  readonly pending_email_until?: Date;
  /**
   * Former email addresses to which the account can still return by undoing a change, oldest first. Until that right
   * lapses, no other account can have them. The worker removes a lapsed address after it has deleted the limits' data
   * about that address.
   */
  readonly former_emails?: readonly FormerEmail[];
  /**
   * Time at which the password last changed; missing if the password is still the first one. Every write of a different
   * password sets this field, in the same transaction that ends the sessions. A login that verified the old password
   * detects by this field that it came too late. A better hash of the same password does not change the field.
   */
  readonly password_changed_at?: Date;
  /**
   * Time of the latest recovery that began the counts of the account's own limits anew, because a thief may have used
   * them up.
   */
  readonly recovered_at?: Date;
  /** True if nobody knows the password, because an undo or a deletion by code made it unusable. */
  readonly is_password_void?: boolean;
  /** Time at which a passkey, the second factor or another sign-in method was last added or removed. */
  readonly ways_changed_at?: Date;
  /** Confirmed authenticator app. While it is there, each login needs a second factor. */
  readonly totp?: ConfirmedTotp;
  /** Authenticator app that must still be confirmed. */
  readonly pending_totp?: PendingTotp;
  /** HMACs of the unused recovery codes, base64url. Their key is derived from the seed of `totp`. */
  readonly recovery_codes?: readonly string[];
  /** Devices whose logins need no second factor, the latest last. At most 20. */
  readonly trusted_devices?: readonly TrustedDevice[];
  /** Time of the latest mail about used up tries of the password. */
  readonly password_warned_at?: Date;
  /** Time of the latest mail about guesses at the second factor. */
  readonly guesses_warned_at?: Date;
  /** `user.id` of all passkeys of the account, 64 random bytes; missing if it never had one. */
  readonly user_handle?: Binary;
  /** At most 20, oldest first. */
  readonly passkeys?: readonly PasskeyDocument[];
  /** Identities at providers, at most 10, oldest first. */
  readonly identities?: readonly IdentityDocument[];
  /** Time at which an operator disabled the account. From then on, nobody can log in. */
  readonly disabled_at?: Date;
  /** Reason that the operator gave, for the support desk. */
  readonly disabled_reason?: string;
  /** Name of that operator. */
  readonly disabled_by?: string;
  /** Time of the erasure, if the deletion was ordered. While it is set, nobody can log in. */
  readonly deletes_at?: Date;
  /** Claim of the worker that erases the account, and the time from which another worker may take over. */
  readonly erasure?: { readonly lease: string; readonly until: Date };
  /**
   * Written by every operation that revokes or moves all sessions of a user. Logins write the same document, so that
   * they conflict with such an operation.
   */
  readonly sessions_changed_at?: Date;
  /**
   * Incremented by each of these writes, because an update that changes no value (such as a time in the same
   * millisecond) would not conflict.
   */
  readonly touches?: number;
  /** Number of changes that sessions of the user have asked for. */
  readonly changes?: number;
  /**
   * A number of `touches` that opened no session or whose session has ended. Every session is opened with a touch, by
   * older versions too. So at most `touches - spent_touches` sessions are live, and while that is below the limit, a
   * login need not count them. Missing if no login has counted them yet.
   */
  readonly spent_touches?: number;
}

/** Seed of an authenticator app, sealed with AES-256-GCM. */
export interface SealedSeed {
  /** UUIDv4. */
  readonly factor_id: string;
  /** Server key that seals the seed. */
  readonly kid: string;
  readonly seed: Binary;
}

export interface ConfirmedTotp extends SealedSeed {
  readonly confirmed_at: Date;
  /** The latest step (RFC 6238) whose code was used. No step up to this one counts again. */
  readonly last_step: number;
  /** Key of the HMACs in `recovery_codes`. Missing until the app's next use, if an earlier release added the app. */
  readonly recovery_key?: Binary;
  /** The removal that was ordered. It goes with the app: a new app is not removed. */
  readonly removal?: FactorRemoval;
}

/** An order to remove a second factor that its owner has lost. */
export interface FactorRemoval {
  /** UUIDv4, which the stop token of the mail names. */
  readonly id: string;
  readonly ordered_at: Date;
  /** Time from which the second factor no longer counts. */
  readonly due_at: Date;
  /** `mail`: with a code from the mailbox; `staff`: by an operator. */
  readonly by: 'mail' | 'staff';
}

export interface PendingTotp extends SealedSeed {
  /** Time at which the enrolment lapses. */
  readonly until: Date;
  /** The account's version when the enrolment began. A change of a sign-in method ends it. */
  readonly version: string;
}

export interface TrustedDevice {
  readonly device_id: string;
  /** SHA-256 of the token that the device keeps, base64url. */
  readonly token: string;
  /** Thumbprint of the key to which the login was bound that began the trust. Only with its proof the token counts. */
  readonly jkt?: string;
  /** Identity by which that login began. A security event of its provider can end the trust. */
  readonly identity_id?: string;
  /** The account's version when the trust began. A change of a sign-in method ends the trust. */
  readonly version: string;
  readonly trusted_at: Date;
  /** Time at which the trust ends. */
  readonly until: Date;
}

/** A passkey: the public key of an authenticator (docs/specification/sign-in.md, "Passkeys"). */
export interface PasskeyDocument {
  /** `passkey_id`, UUIDv7. */
  readonly id: string;
  /** Id that the authenticator has given it, base64url. Unique. */
  readonly credential_id: string;
  /** COSE key. */
  readonly public_key: Binary;
  /** Signatures that the authenticator has counted by its latest use; 0 if it does not count. */
  readonly counter: number;
  /** Transports of the authenticator, for browsers. */
  readonly transports: readonly string[];
  /** True if its owner's devices may share it. */
  readonly is_backup_eligible: boolean;
  readonly is_backed_up: boolean;
  readonly name: string | null;
  readonly created_at: Date;
  readonly last_used_at?: Date;
}

/** A person as a provider of OpenID Connect knows them. The pair of `provider` and `sub` is unique. */
export interface IdentityDocument {
  /** `identity_id`, UUIDv7. */
  readonly id: string;
  /** Name of the provider in the configuration. */
  readonly provider: string;
  /** The provider's id of the person. */
  readonly sub: string;
  /** Email address that the provider named when the identity was linked. */
  readonly email?: string;
  readonly created_at: Date;
  /** Missing if the provider's code was never exchanged, or if the person has withdrawn their consent. */
  readonly refresh_token?: SealedRefreshToken;
  /** Time at which the provider said that it forwards no more mail to `email`. */
  readonly relay_off_at?: Date;
  /**
   * Time at which the provider said that it has disabled its account. Until it is enabled, nobody can sign in by the
   * identity.
   */
  readonly disabled_at?: Date;
  /**
   * Time at which the provider signed the security event that `relay_off_at` or `disabled_at` comes from, set or
   * removed.
   */
  readonly noticed_at?: Date;
  /**
   * Time of the latest security event that ended what the identity had opened. It is later than that of the one before.
   */
  readonly ended_at?: Date;
  readonly notices?: CountedSecurityEvents;
}

/** Security events about an identity in a day, which begins with the first. */
export interface CountedSecurityEvents {
  readonly since: Date;
  readonly count: number;
  /** True if the account's holder was notified by mail that day. */
  readonly is_told: boolean;
}

/** A provider's refresh token, sealed with AES-256-GCM. */
export interface SealedRefreshToken {
  /** Server key that seals the token. */
  readonly kid: string;
  readonly token: Binary;
  /** The app for which the token was issued. */
  readonly client_id: string;
}

/** Collection `provider_revocations`: a refresh token of an identity that is gone, which its provider must revoke. */
export interface ProviderRevocationDocument extends SealedRefreshToken {
  /** `identity_id` of the former identity. */
  readonly _id: string;
  /** Its account, which may be erased. The seal of the token is bound to it. */
  readonly user_id: string;
  /** Name of the provider in the configuration. */
  readonly provider: string;
  readonly created_at: Date;
  /** Time of the next attempt. An attempt that has begun moves it, so that no other worker begins one. */
  readonly due_at: Date;
  /** Number of attempts that have begun. */
  readonly attempts: number;
}

/** An email address that the account had before a change. */
export interface FormerEmail {
  /** `email_change_id` of the notification of this address, UUIDv4. */
  readonly change_id: string;
  /** As the user typed it. */
  readonly email: string;
  readonly email_key: string;
  /**
   * `email_verified_at` of that address. Missing if it was never verified, or if an undo took the verification away.
   */
  readonly verified_at?: Date;
  /** Time until which the change can be undone. */
  readonly until: Date;
}
