import type { AccountType, Platform, RegisteredEvent } from '@auth-account/contracts';
import type { Binary } from 'mongodb';

/** `owner`: who created the space, or inherited it; everybody else is a `member`. */
export type GroupRole = 'owner' | 'member';

/** Collection `users`. */
export interface UserDocument {
  /** UUIDv7. */
  readonly _id: string;
  /** As the user wrote it. */
  readonly email: string;
  /** Lower-cased address: unique. */
  readonly email_key: string;
  /** PHC string (Argon2id) or bcrypt. */
  readonly password_hash: string;
  readonly home_group_id: string;
  readonly account_type: AccountType;
  readonly role: GroupRole;
  readonly created_at: Date;
  /** When the user came into the present group. */
  readonly joined_at: Date;
  readonly last_login_at?: Date;
  /** Written by whatever revokes or moves by user; logins write the document too, so that the two conflict. */
  readonly sessions_changed_at?: Date;
}

/** Collection `groups`: the tenants. */
export interface GroupDocument {
  /** `home_group_id`, UUIDv4. */
  readonly _id: string;
  readonly account_type: AccountType;
  readonly owner_id: string;
  readonly member_count: number;
  readonly created_at: Date;
  /** Set when the last member has left; nobody joins a closed group. */
  readonly closed_at: Date | null;
}

/** Collection `invites`. */
export interface InviteDocument {
  /** The invite token, UUIDv4 in lower case. */
  readonly _id: string;
  readonly home_group_id: string;
  readonly account_type: AccountType;
  readonly created_by: string;
  readonly created_at: Date;
  readonly expires_at: Date;
  /** null: unlimited. */
  readonly max_uses: number | null;
  readonly uses: number;
  readonly revoked_at: Date | null;
}

/** Why a session ended. `logout` closes its stream with 1000, everything else with 4001. */
export type RevocationReason =
  | 'logout'
  | 'replaced'
  | 'session_limit'
  | 'refresh_token_reuse'
  | 'revoked_by_user'
  | 'forced';

/** What the access tokens of a session say of its user; signed from what the write returned. */
export interface SessionClaims {
  readonly home_group_id: string;
  readonly account_type: AccountType;
  /** Grows with every change of the claims. */
  readonly ver: number;
}

/** Collection `user_sessions`: one per user and device (specification, "Session"; decisions, "Tokens"). */
export interface SessionDocument {
  /** `session_id`, UUIDv7; also the `{id}` of the push stream. */
  readonly _id: string;
  /** SHA-256 of the newest refresh token, base64url. */
  readonly token: string;
  readonly user_id: string;
  readonly is_revoked: boolean;
  /** Random half of the refresh tokens' HMAC input, 32 bytes. */
  readonly nonce: Binary;
  /** Key that made the newest refresh token. */
  readonly kid: string;
  /** Newest generation handed out. */
  readonly gen: number;
  /** Last generation that was presented and taken. */
  readonly parent: number;
  /** What `gen` was when `parent` was taken: the parent's children are `floor + 1 … gen`. */
  readonly floor: number;
  /** When `gen` was handed out. */
  readonly handed_out_at: Date;
  readonly claims: SessionClaims;
  readonly device_id: string;
  readonly device_name: string | null;
  readonly platform: Platform | null;
  readonly created_at: Date;
  readonly last_used_at: Date;
  /** Idle expiry: moves with every use, never past `absolute_expires_at`. */
  readonly expires_at: Date;
  readonly absolute_expires_at: Date;
  readonly revoked_at?: Date;
  readonly revoked_reason?: RevocationReason;
  /** The request that revoked the session, for the close command when it is sent again. */
  readonly revoked_request_id?: string;
  /** Another session whose stream the same logout closes. */
  readonly revoked_also_close?: string;
}

/** Collection `idempotency`: 2xx answers to requests with an `Idempotency-Key`. */
export interface IdempotencyDocument {
  /** HMAC under a server secret of route, caller and key. */
  readonly _id: string;
  /** HMAC of the body. */
  readonly fingerprint: string;
  /** `data` of the answer. */
  readonly answer: unknown;
  readonly expires_at: Date;
}

/** Collection `outbox`: one row per event, written in the transaction of what it tells. */
export interface OutboxDocument {
  /** The event's id, UUIDv7. */
  readonly _id: string;
  readonly topic: string;
  readonly event: RegisteredEvent;
  readonly state: 'pending' | 'delivered';
  readonly created_at: Date;
  /** A relay that claims the row owns it until then; a fresh row is left to the hand-over first. */
  readonly locked_until: Date;
  /** Which claim holds the row. */
  readonly lease?: string;
  /** How often a relay has claimed the row. */
  readonly attempts: number;
  readonly last_error?: string;
  /** Subscriber → when it had the event. */
  readonly deliveries: Readonly<Record<string, Date>>;
  readonly delivered_at?: Date;
}
