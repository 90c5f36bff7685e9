import type { AccountType, GroupRole, Platform, RegisteredEvent } from '@auth-account/contracts';
import type { Binary } from 'mongodb';

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
  /**
   * Grows with each of these writes: one that changes nothing, as of the same millisecond, would conflict with nobody.
   */
  readonly touches?: number;
}

/** Collection `groups`: the tenants. */
export interface GroupDocument {
  /** `home_group_id`, UUIDv4. */
  readonly _id: string;
  readonly account_type: AccountType;
  readonly owner_id: string;
  readonly member_count: number;
  readonly created_at: Date;
  /**
   * How many invites its owners have made; each counts here, so that it conflicts with whatever else changes the group.
   */
  readonly invites_made?: number;
  /** Set when the last member has left; nobody joins a closed group, and its document goes 30 days later. */
  readonly closed_at: Date | null;
  /** By what an import names the group, so that a later run finds it again: unique. */
  readonly import_key?: string;
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

/** Why a session ended; `closeReasonOf` says how its stream closes. */
export type RevocationReason =
  | 'logout'
  | 'replaced'
  | 'session_limit'
  | 'refresh_token_reuse'
  | 'revoked_by_user'
  | 'forced';

/** Claims of a session's access tokens about its user; signed as the write returned them. */
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
  /** `gen` at the time when `parent` was taken: the parent's children are `floor + 1 … gen`. */
  readonly floor: number;
  /** When `gen` was handed out. */
  readonly handed_out_at: Date;
  readonly claims: SessionClaims;
  /** When the claims were last changed, and by which request: for the deny list, when it is written again. */
  readonly claims_changed_at?: Date;
  readonly claims_request_id?: string;
  readonly device_id: string;
  readonly device_name: string | null;
  readonly platform: Platform | null;
  readonly created_at: Date;
  /** The login's `X-Request-ID`, for the support desk. */
  readonly created_request_id?: string;
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

/** How one attempt to give an event to a subscriber ended; `given_up` is the last one, before the dead letter. */
export type AttemptOutcome = 'delivered' | 'failed' | 'given_up';

/** One attempt to give an event to a subscriber, for the support desk: no secret, nothing of the answer's body. */
export interface DeliveryAttempt {
  readonly subscriber: string;
  /** When it ended. */
  readonly at: Date;
  readonly outcome: AttemptOutcome;
  /** HTTP status, if a webhook answered. */
  readonly status?: number;
  readonly error?: string;
  /** Missing if the subscriber takes its jobs itself. */
  readonly duration_ms?: number;
}

/** Collection `outbox`: one row per event, written in the transaction of what it tells. */
export interface OutboxDocument {
  /** The event's id, UUIDv7. */
  readonly _id: string;
  readonly topic: string;
  readonly event: RegisteredEvent;
  /**
   * `pending`: some subscriber neither has the event nor a dead letter of it. `dead`: nobody waits, and there is a dead
   * letter, as long as which the row stays. `delivered`: nobody waits and there is none.
   */
  readonly state: 'pending' | 'delivered' | 'dead';
  readonly created_at: Date;
  /** A relay that claims the row owns it until then; a fresh row is left to the publish first. */
  readonly locked_until: Date;
  /** Set while there are subscribers who were not given the event, as their queues are full. */
  readonly held?: HeldRow;
  /** Which claim holds the row. */
  readonly lease?: string;
  /** How often a relay has claimed the row. */
  readonly attempts: number;
  readonly last_error?: string;
  /** Subscriber → when it had the event. */
  readonly deliveries: Readonly<Record<string, Date>>;
  /** Subscriber → since when there is a dead letter. */
  readonly dead?: Readonly<Record<string, Date>>;
  /** Subscriber → when an operator decided that it need not have the event. */
  readonly discarded?: Readonly<Record<string, Date>>;
  /** Subscriber → when an operator last had the event sent again. */
  readonly replays?: Readonly<Record<string, Date>>;
  /** Subscriber → when an attempt first failed, since the last replay. */
  readonly first_failures?: Readonly<Record<string, Date>>;
  /** The latest attempts, {@link maximumAttemptsKept} at most, oldest first. */
  readonly attempt_log?: readonly DeliveryAttempt[];
  /** Since when the state is `delivered`: the row's retention begins. */
  readonly delivered_at?: Date;
}

/** Hold of an outbox row that waits for room in queues, and not for its next look. */
export interface HeldRow {
  /** The subscribers. */
  readonly for: readonly string[];
  /** When it is looked at all the same: who is configured may have changed. */
  readonly until: Date;
}

/** Attempts that an outbox row remembers. */
export const maximumAttemptsKept = 30;

/**
 * Collection `dead_letters`: one per event and subscriber that did not take it. They stay until replayed or discarded.
 */
export interface DeadLetterDocument {
  /** `<subscriber>:<event id>`. */
  readonly _id: string;
  readonly event_id: string;
  readonly subscriber: string;
  readonly topic: string;
  readonly event: RegisteredEvent;
  readonly last_error: string;
  /** How often it was tried, since the last replay. */
  readonly attempts: number;
  readonly first_attempt_at: Date;
  readonly last_attempt_at: Date;
  readonly created_at: Date;
  /** The latest attempts for this subscriber, oldest first. */
  readonly attempt_log: readonly DeliveryAttempt[];
}

/** Collection `subscribers`: what the workers tell each other, and the operator, about a subscriber. */
export interface SubscriberDocument {
  /** The subscriber's name. */
  readonly _id: string;
  /** Since when the workers have it in their configuration; missing if they do not have it, or no more. */
  readonly configured_at?: Date;
  /** Set while its deliveries are held up because it answered 410 Gone. */
  readonly parked_at?: Date;
  /** The event whose delivery it answered so. */
  readonly parked_by_event?: string;
  /** When an operator last had its deliveries go on: what waited until then is not given up for its age. */
  readonly resumed_at?: Date;
}
