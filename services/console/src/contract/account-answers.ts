import type { Page, Time } from './page.ts';

/** `GET /api/accounts/{id}`: everything that answers the usual questions. */
export interface AccountView {
  readonly user_id: string;
  /** Masked: `a…@e….com`. */
  readonly email: string;
  readonly email_verified_at: Time | null;
  readonly verified_email_required: boolean | null;
  readonly pending_email: { readonly email: string; readonly until: Time | null } | null;
  /** null for viewers. */
  readonly display_name: string | null;
  readonly locale: string | null;
  readonly account_type: string;
  readonly group: { readonly id: string; readonly name: string | null; readonly members: number | null };
  readonly role: string;
  readonly created_at: Time;
  readonly joined_at: Time;
  readonly last_login_at: Time | null;
  readonly disabled: { readonly at: Time; readonly by: string | null; readonly reason: string | null } | null;
  readonly deletes_at: Time | null;
  readonly methods: SignInMethods;
  readonly limits: AccountLimits;
  readonly logins: LoginAnswer;
  readonly sessions: readonly SessionView[];
  readonly ended: Page<EndedSessionView>;
  readonly messages: Page<MessageView>;
  readonly open_codes: readonly OpenCode[];
  readonly invites: readonly InviteView[];
}

export interface SignInMethods {
  /** `argon2id`, `bcrypt` and so on; `void` if nobody knows the password. */
  readonly password: string;
  readonly password_changed_at: Time;
  readonly passkeys: readonly {
    readonly id: string;
    readonly name: string | null;
    readonly created_at: Time;
    readonly last_used_at: Time | null;
  }[];
  readonly identities: readonly {
    readonly id: string;
    readonly provider: string;
    readonly linked_at: Time;
    readonly disabled_at: Time | null;
    readonly relay_off_at: Time | null;
  }[];
  readonly second_factor: {
    readonly since: Time;
    readonly recovery_codes: number;
    readonly removal: { readonly due_at: Time; readonly by: 'mail' | 'staff' } | null;
  } | null;
  readonly trusted_devices: number;
}

/** Counts of the limits for the account. */
export type AccountLimits =
  | { readonly known: false; readonly why: string }
  | {
      readonly known: true;
      /** Pseudonym of the account in the audit log. */
      readonly tag: string;
      readonly wrong_passwords: number;
      readonly wrong_passwords_from_known: number;
      readonly wrong_passwords_today: number;
      readonly login_elsewhere_from: Time | null;
      readonly wrong_factors: number;
      readonly wrong_factors_from_known: number;
      readonly factor_tries_elsewhere: readonly Time[];
      readonly codes_asked_elsewhere: readonly Time[];
      readonly known_networks: number;
    };

/** Outcome that a login has now, with the reasons. */
export interface LoginAnswer {
  /** True if a login on a new device with the right password and factor succeeds now. */
  readonly works: boolean;
  readonly obstacles: readonly LoginObstacle[];
}
export type LoginObstacle =
  | { readonly kind: 'disabled'; readonly at: Time; readonly reason: string | null }
  | { readonly kind: 'deletion_ordered'; readonly deletes_at: Time }
  | { readonly kind: 'email_not_verified' }
  | { readonly kind: 'password_void' }
  | { readonly kind: 'locked_elsewhere'; readonly until: Time }
  | { readonly kind: 'too_many_wrong_passwords' }
  | { readonly kind: 'too_many_wrong_factors'; readonly until: Time | null }
  | { readonly kind: 'identity_disabled'; readonly provider: string; readonly at: Time }
  | { readonly kind: 'relay_off'; readonly provider: string; readonly at: Time };

export interface SessionView {
  readonly session_id: string;
  readonly device_id: string;
  readonly device_name: string | null;
  readonly platform: string | null;
  /** Methods of RFC 8176 by which it was opened. */
  readonly methods: readonly string[];
  readonly is_bound: boolean;
  readonly created_at: Time;
  readonly created_request_id: string | null;
  readonly last_used_at: Time;
  readonly expires_at: Time;
}

export type EndReason =
  | 'logout'
  | 'replaced'
  | 'session_limit'
  | 'refresh_token_reuse'
  | 'revoked_by_user'
  | 'revoked_by_provider'
  | 'forced'
  | 'password_changed'
  | 'account_disabled'
  | 'account_deleted'
  | 'expired';

/** A session that has ended, with everything that explains it in a sentence. */
export interface EndedSessionView extends Omit<SessionView, 'expires_at'> {
  readonly ended_at: Time;
  readonly reason: EndReason;
  readonly request_id: string | null;
  /** Session of another device from which it was ended. */
  readonly by_device: {
    readonly session_id: string;
    readonly device_name: string | null;
    readonly platform: string | null;
  } | null;
  /** The provider's security event, such as `apple consent_revoked`. */
  readonly notice: string | null;
  /** Reason and name of the operator or service that ended it, if they are still known. */
  readonly operator: { readonly name: string | null; readonly reason: string | null } | null;
  /** Session that replaced it on the same device. */
  readonly replaced_by: string | null;
}

/** An event that is mailed to the person: a code, a notification, a welcome. */
export interface MessageView {
  readonly event_id: string;
  /** Topic without its prefix, such as `code_requested`. */
  readonly topic: string;
  /** Purpose of a code or a notification, such as `password_reset`. */
  readonly purpose: string | null;
  readonly at: Time;
  readonly request_id: string;
  readonly deliveries: readonly DeliveryView[];
}
export interface DeliveryView {
  readonly subscriber: string;
  readonly state: 'delivered' | 'waiting' | 'suspended' | 'given_up' | 'discarded' | 'expired';
  readonly at: Time | null;
  readonly attempts: number;
  readonly last_error: string | null;
}

/** A code that was requested and still counts; it can be sent again. */
export interface OpenCode {
  readonly purpose: string;
  readonly created_at: Time;
  readonly expires_at: Time;
  readonly tries_left: number;
  readonly resends_left: number;
  readonly resend_at: Time;
}

export interface InviteView {
  /** Digest of the token, which nobody sees. */
  readonly ref: string;
  readonly group_id: string;
  readonly created_at: Time;
  readonly expires_at: Time;
  readonly uses: number;
  readonly max_uses: number | null;
  readonly state: 'good' | 'expired' | 'revoked' | 'used_up';
}
