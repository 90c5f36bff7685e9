import type { AccountType, Platform } from '@auth-account/contracts';
import type { CodePurpose } from '@auth-account/contracts/events';
import type { UpgradeRecord } from '@auth-account/lifecycle/upgrade';
import type { Binary } from 'mongodb';

export * from './account/user-document.ts';
export * from './outbox/event-documents.ts';

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
  | 'revoked_by_provider'
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
export interface PrecomputedHashes {
  /** Key of these tokens. */
  readonly kid: string;
  readonly block: number;
  readonly hashes: string;
}

/** Position of one hash in {@link PrecomputedHashes}. */
export interface HashPosition {
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
  /** The database's time when the hold was taken, and 2 s. It differs each time that the hold is taken. */
  readonly until: Date;
}

/** The proof by which a session's user has shown who they are (docs/specification/sign-in.md, "Step-up"). */
export interface SessionAuth {
  /** Time of the latest proof. A refresh never changes it. */
  readonly at: Date;
  /** Methods of RFC 8176, in the order of their use. */
  readonly amr: readonly string[];
  /** `1`: one factor; `2`: two. */
  readonly acr: AuthLevel;
}

/** Number of factors that were proved, as the claim `acr` has it. */
export type AuthLevel = '1' | '2';

/** Collection `user_sessions`: one per user and device (docs/specification/refresh.md, "Refresh tokens"). */
export interface SessionDocument {
  /** `session_id`, UUIDv7; also the `{id}` of the push stream. */
  readonly _id: string;
  /** SHA-256 of the newest refresh token, base64url. */
  readonly token: string;
  readonly user_id: string;
  readonly is_revoked: boolean;
  /** Random part of the refresh tokens' HMAC input, 32 bytes. */
  readonly nonce: Binary;
  /** Key that signed the newest refresh token. */
  readonly kid: string;
  /**
   * Token hashes of some generations, so that a refresh need not read the session before it writes. Missing in sessions
   * of earlier releases.
   */
  readonly ahead?: PrecomputedHashes;
  /** Newest generation that was issued. */
  readonly gen: number;
  /** Last generation that was presented and accepted. */
  readonly parent: number;
  /** Value of `gen` when `parent` was accepted, so the parent's children are `floor + 1 … gen`. */
  readonly floor: number;
  /** Time at which `gen` was issued. */
  readonly handed_out_at: Date;
  readonly claims: SessionClaims;
  /** Missing in sessions of earlier releases: their users gave a password at `created_at`. */
  readonly auth?: SessionAuth;
  /** Identity that has opened it. Missing for other sign-in methods, and in sessions of earlier releases. */
  readonly identity_id?: string;
  /** Time and request of the claims' last change, from which the deny list is rebuilt. */
  readonly claims_changed_at?: Date;
  readonly claims_request_id?: string;
  /** Mark of a transaction that is about to write the session: see `SessionStore.holdOf`. */
  readonly hold?: SessionHoldMark;
  /** Key that must prove each refresh (RFC 9449). Missing if the session is not bound. */
  readonly cnf?: { readonly jkt: string };
  /** True if its login made its device trusted, or used the trust. The trust itself may have ended since. */
  readonly is_trusted?: boolean;
  readonly device_id: string;
  /** True if the app sent `device_id`, false if it was made up. Missing in sessions of earlier releases. */
  readonly is_device_named?: boolean;
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
  /** The provider and its security event that ended the session, such as `apple consent_revoked`. */
  readonly revoked_notice?: string;
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

/**
 * Collection `spent_proofs`: challenges and step-up tokens that have been used. They are stateless until then. A record
 * names no user, and is removed a few minutes after the proof would have expired.
 */
export interface ConsumedProofDocument {
  /** SHA-256 of the challenge's or token's id, base64url. */
  readonly _id: string;
  /** HMAC-SHA-256 of the proof and its device under a server key, base64url. Only the same request may get the same answer again. */
  readonly proof: string;
  /** HMAC-SHA-256 of the id under the same key. It shows whether a process has that key. */
  readonly key?: string;
  /** The session that the proof has opened. */
  readonly session_id?: string;
  readonly at: Date;
  readonly purge_at: Date;
}

/** Collection `upgrades`: the generations of builds that have used the database (docs/releasing.md, "Generations"). */
export type UpgradeDocument = UpgradeRecord;

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
 * Collection `challenges`: codes that were requested. A challenge stores no email address, and no code, because the
 * code is derived. A challenge for an email address without an account looks like any other, but its `user_id` belongs
 * to no user.
 */
export interface ChallengeDocument {
  /** `challenge_id`, UUIDv4. */
  readonly _id: string;
  readonly purpose: CodePurpose;
  readonly user_id: string;
  /** The link of an identity for which alone the code counts, as a digest; missing for other purposes. */
  readonly link?: string;
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
  /** Time at which the challenge was used, or ended by a change of the account. */
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
