import type { DeliveryView, EndedSessionView, InviteView, MessageView } from './account-answers.ts';
import type { Page, Time } from './page.ts';
import type { ActionName, Role } from './roles.ts';

export type { Page, Time };

export const errorCodes = [
  /** 401: no session, or it has ended. */
  'signed_out',
  /** 403: the role lacks the right. */
  'forbidden',
  /** 403: the request does not come from the console's page. */
  'wrong_origin',
  /** 400: personal data without a reason, or a reason that may not go into a log. */
  'reason_missing',
  /** 400: the input is against a rule. */
  'invalid',
  /** 404 */
  'unknown',
  /** 409: a rule forbids it, such as that it is so already. */
  'refused',
  /** 409: it has changed since the plan was made. */
  'changed',
  /** 429, with `Retry-After`. */
  'limited',
  /** 503: MongoDB, Redis, the provider or a worker does not answer. */
  'unavailable',
  /** 500: a bug. */
  'internal',
] as const;
export type ErrorCode = (typeof errorCodes)[number];

/** Body of every answer that is no 2xx. `message` is English, for staff, and has no personal data. */
export interface ErrorAnswer {
  readonly error: { readonly code: ErrorCode; readonly message: string; readonly request_id: string };
}

/** `GET /api/me` */
export interface Me {
  readonly name: string;
  readonly subject: string;
  readonly role: Role;
  /** Token for requests that are no GET. */
  readonly token: string;
  readonly session_ends_at: Time;
  /** Actions of the role. */
  readonly actions: readonly ActionName[];
  /** Actions for which a second person must consent. */
  readonly four_eyes: readonly ActionName[];
  /** URL of a trace, with `{request_id}` in it. */
  readonly trace_url: string | null;
  readonly deletion_grace_days: number;
}

/** `POST /sign-out`: the provider's page on which the person signs out there too, if there is one. */
export interface SignedOut {
  readonly end_session_url: string | null;
}

/** `POST /api/find`: the path of the view that shows it. */
export interface Found {
  readonly kind: 'account' | 'session' | 'group' | 'request' | 'event';
  readonly path: string;
}

/** `GET /api/accounts/{id}/timeline`, newest first: steps of one request are one entry. */
export interface TimelineEntry {
  readonly at: Time;
  readonly request_id: string | null;
  readonly steps: readonly Step[];
}
export interface Step {
  readonly at: Time;
  readonly what: string;
  readonly facts: Readonly<Record<string, string | number | boolean>>;
}

/** `GET /api/accounts/{id}/ended?after=`, `…/messages?after=`, `…/timeline?after=` */
export type EndedPage = Page<EndedSessionView>;
export type MessagesPage = Page<MessageView>;
export type TimelinePage = Page<TimelineEntry>;

/** `POST /api/accounts/{id}/address`, for support: the unmasked email addresses. */
export interface AddressView {
  readonly email: string;
  readonly pending_email: string | null;
}

/** `GET /api/groups/{id}` */
export interface GroupView {
  readonly group_id: string;
  readonly account_type: string;
  readonly name: string | null;
  readonly created_at: Time;
  readonly closed_at: Time | null;
  readonly members: readonly {
    readonly user_id: string;
    readonly email: string;
    readonly role: string;
    readonly joined_at: Time;
  }[];
  readonly invites: readonly InviteView[];
}

/** `GET /api/requests/{id}` */
export interface RequestView {
  readonly request_id: string;
  readonly steps: readonly (Step & { readonly after_ms: number })[];
  readonly gaps: readonly string[];
}

/** `GET /api/events/{id}` */
export interface EventView {
  readonly event_id: string;
  readonly topic: string;
  readonly state: 'pending' | 'delivered' | 'dead' | 'gone';
  readonly user_id: string | null;
  readonly request_id: string | null;
  readonly at: Time | null;
  readonly deliveries: readonly DeliveryView[];
  readonly attempts: readonly {
    readonly subscriber: string;
    readonly at: Time;
    readonly outcome: string;
    readonly status: number | null;
    readonly error: string | null;
  }[];
}
