import type { AccountType, GroupRole, Platform } from '@auth-account/contracts';
import type { CodePurpose, Locale } from '@auth-account/contracts/events';
import type { Binary } from 'mongodb';

export * from './event-documents.ts';

/** Collection `users`. */
export interface UserDocument {
  /** UUIDv7. */
  readonly _id: string;
  /** Address as the user typed it. */
  readonly email: string;
  /** Lower-cased address. Unique. */
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
   * Times of logins on new devices that count towards the daily limit of notices, newest last. At most 10. A further
   * login that day is neither mailed nor added.
   */
  readonly new_device_notices?: readonly Date[];
  /** Name that the other members and invited people see. */
  readonly display_name?: string;
  /** Language of mails; missing if the user has not chosen one. */
  readonly locale?: Locale;
  /** Time at which the user proved that mail to the address arrives. */
  readonly email_verified_at?: Date;
  /** New address of a change that is not confirmed yet, as the user typed it. */
  readonly pending_email?: string;
  /** Time at which that change lapses. */
  readonly pending_email_until?: Date;
  /**
   * Former addresses to which the account can still return by undoing a change, oldest first. Until that right lapses,
   * no other account can have them. The worker removes a lapsed address after it has deleted the limits' data about
   * that address.
   */
  readonly former_emails?: readonly FormerEmail[];
  /**
   * Time at which the password last changed; missing if the password is still the first one. Every write of a different
   * password sets this field, in the same transaction that ends the sessions. A login that verified the old password
   * detects by this field that it came too late. A better hash of the same password does not change the field.
   */
  readonly password_changed_at?: Date;
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
  /**
   * A number of `touches` that opened no session or whose session has ended. Every session is opened with a touch, by
   * older versions too. So at most `touches - spent_touches` sessions are live, and while that is below the limit, a
   * login need not count them. Missing if no login has counted them yet.
   */
  readonly spent_touches?: number;
}

/** An address that the account had before a change of address. */
export interface FormerEmail {
  /** `email_change_id` of the notice to this address, UUIDv4. */
  readonly change_id: string;
  /** As the user typed it. */
  readonly email: string;
  readonly email_key: string;
  /**
   * `email_verified_at` of that address. Missing if the address was never verified, or if an undo took the verification
   * away.
   */
  readonly verified_at?: Date;
  /** Time until which the change can be undone. */
  readonly until: Date;
}

/** Collection `groups`: the tenants. */
export interface GroupDocument {
  /** `home_group_id`, UUIDv4. */
  readonly _id: string;
  readonly account_type: AccountType;
  readonly owner_id: string;
  /** Name, chosen by the owner. */
  readonly name?: string;
  readonly member_count: number;
  readonly created_at: Date;
  /**
   * Number of invites that its owners have created. Creating an invite increments this number, and so conflicts with
   * any other change of the group.
   */
  readonly invites_made?: number;
  /** Set when the last member has left. Nobody can join a closed group, and its document is deleted 30 days later. */
  readonly closed_at: Date | null;
  /** Key by which a later run of an import finds the group again. Unique. */
  readonly import_key?: string;
}

/** Collection `invites`. */
export interface InviteDocument {
  /** The invite token, UUIDv4 in lower case. */
  readonly _id: string;
  readonly home_group_id: string;
  readonly account_type: AccountType;
  /** null if the account that created the invite was erased. */
  readonly created_by: string | null;
  readonly created_at: Date;
  readonly expires_at: Date;
  /** null if the number of uses is unlimited. */
  readonly max_uses: number | null;
  readonly uses: number;
  readonly revoked_at: Date | null;
}

/** Reason for a session's end; `closeReasonOf` returns how its stream closes. */
export type RevocationReason =
  | 'logout'
  | 'replaced'
  | 'session_limit'
  | 'refresh_token_reuse'
  | 'revoked_by_user'
  | 'forced'
  | 'password_changed'
  | 'account_disabled'
  | 'account_deleted';

/**
 * Claims about the user in a session's access tokens. The tokens contain the claims exactly as the write returned them.
 */
export interface SessionClaims {
  readonly home_group_id: string;
  readonly account_type: AccountType;
  /** Incremented by every change of the claims. */
  readonly ver: number;
}

/**
 * Hashes (SHA-256, base64url) of a session's refresh tokens for one block of generations, joined without a separator.
 */
export interface HashesAhead {
  /** Key of these tokens. */
  readonly kid: string;
  readonly block: number;
  readonly hashes: string;
}

/** Position of one hash in {@link HashesAhead}. */
export interface HashPlace {
  readonly block: number;
  /** Index of the hash's first character. */
  readonly start: number;
  /** Number of the hash's characters. */
  readonly length: number;
}

/** Makes refreshes of a session wait for a moment. */
export interface SessionHoldMark {
  /** Random id of the holder. */
  readonly by: string;
  /** Time at which the hold ends by itself. */
  readonly until: Date;
}

/** Collection `user_sessions`: one per user and device (docs/specification/refresh.md, "Refresh tokens"). */
export interface SessionDocument {
  /** `session_id`, UUIDv7; also the `{id}` of the push stream. */
  readonly _id: string;
  /** SHA-256 of the newest refresh token, base64url. */
  readonly token: string;
  readonly user_id: string;
  readonly is_revoked: boolean;
  /** Random half of the refresh tokens' HMAC input, 32 bytes. */
  readonly nonce: Binary;
  /** Key that signed the newest refresh token. */
  readonly kid: string;
  /**
   * Token hashes of some generations, so that a refresh need not read the session before it writes. Missing in sessions
   * of earlier releases.
   */
  readonly ahead?: HashesAhead;
  /** Newest generation that was issued. */
  readonly gen: number;
  /** Last generation that was presented and accepted. */
  readonly parent: number;
  /** Value of `gen` when `parent` was accepted, so the parent's children are `floor + 1 … gen`. */
  readonly floor: number;
  /** Time at which `gen` was issued. */
  readonly handed_out_at: Date;
  readonly claims: SessionClaims;
  /** Time and request of the claims' last change, from which the deny list is rebuilt. */
  readonly claims_changed_at?: Date;
  readonly claims_request_id?: string;
  /** Mark of a transaction that is about to write the session: see `SessionStore.holdOf`. */
  readonly hold?: SessionHoldMark;
  /** Key that must prove each refresh (RFC 9449). Missing if the session is not bound. */
  readonly cnf?: { readonly jkt: string };
  readonly device_id: string;
  readonly device_name: string | null;
  readonly platform: Platform | null;
  readonly created_at: Date;
  /** The login's `X-Request-ID`, for the support desk. */
  readonly created_request_id?: string;
  /** Marks of the login's `Idempotency-Key`, one per server key. A repeated login finds this session by these marks. */
  readonly opened_by?: readonly RequestMark[];
  readonly last_used_at: Date;
  /** Idle expiry. Every use of the session postpones it, but never past `absolute_expires_at`. */
  readonly expires_at: Date;
  readonly absolute_expires_at: Date;
  readonly revoked_at?: Date;
  readonly revoked_reason?: RevocationReason;
  /** The request that revoked the session. A close command that is sent again names this request. */
  readonly revoked_request_id?: string;
  /** Another session whose stream the same logout closes. */
  readonly revoked_also_close?: string;
  /** The session of another device from which the user ended this session, for the support desk. */
  readonly revoked_by?: string;
}

/**
 * Collection `erased_sessions`: a record for each session that ended with its account's erasure or shortly before. It
 * is kept as long as an access token of the session can be valid. If Redis loses the deny list, the list is rebuilt
 * from these records too. The records do not name the user.
 */
export interface ErasedSessionDocument {
  /** The former `session_id`. */
  readonly _id: string;
  readonly revoked_at: Date;
  readonly revoked_reason: RevocationReason;
  readonly revoked_request_id?: string;
  readonly purge_at: Date;
}

/** Distinguishes a repeated request with an `Idempotency-Key` from other requests. */
export interface RequestMark {
  /** HMAC of route, caller and key under a server secret. */
  readonly _id: string;
  /** HMAC of the body. */
  readonly fingerprint: string;
}

/** Collection `idempotency`: 2xx answers to requests with an `Idempotency-Key`. */
export interface IdempotencyDocument extends RequestMark {
  /** Account that the answer is about. The record is erased with the account. Missing for a forced logout. */
  readonly user_id?: string;
  /** `data` of the answer. */
  readonly answer: unknown;
  readonly expires_at: Date;
}

/**
 * Collection `challenges`: codes that were requested. A challenge stores no address, and no code, because the code is
 * derived. A challenge for an address without an account looks like any other, but its `user_id` belongs to no user.
 */
export interface ChallengeDocument {
  /** `challenge_id`, UUIDv4. */
  readonly _id: string;
  readonly purpose: CodePurpose;
  readonly user_id: string;
  /** Server key that derives the code. */
  readonly kid: string;
  /** Number of codes that may still be tried. */
  readonly tries_left: number;
  readonly resends_left: number;
  /** Time from which the code may be sent again. */
  readonly resend_at: Date;
  /** Id of the latest resend. It shows whether the resend's transaction took effect. */
  readonly resent_by?: string;
  readonly created_at: Date;
  readonly expires_at: Date;
  /** Time at which the challenge was used, or made void by a change of the account. */
  readonly ended_at: Date | null;
  /** Id of the confirmation that used the challenge. It shows whether the confirmation's transaction took effect. */
  readonly ended_by?: string;
  /** Time at which the document is removed. Until then a late code can be recognised as expired. */
  readonly purge_at: Date;
}

/**
 * Returns an id that sorts before every UUIDv7 created at or after that time, and after every UUIDv7 created earlier
 * (RFC 9562, section 5.7).
 */
export function firstIdOf(at: Date): string {
  const milliseconds = at.getTime().toString(16).padStart(12, '0');
  return `${milliseconds.slice(0, 8)}-${milliseconds.slice(8)}`;
}
