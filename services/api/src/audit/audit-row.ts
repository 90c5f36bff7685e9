import type { CodePurpose } from '@auth-account/contracts/events';
import { StepUpMethod } from '@auth-account/contracts/http/step-up';
import {
  type SecurityEventKind,
  securityEventSenders,
  securityEventTokenFaults,
} from '../security/providers/provider.ts';

/** The methods with which a login begins. */
const loginMethods = ['password', 'passkey', 'email_code', 'federated'] as const;
export type LoginMethod = (typeof loginMethods)[number];

export interface CounterRow {
  readonly name: string;
  /**
   * Title of the counter's panel in the api's dashboard; missing if the dashboard has special panels for the counter.
   */
  readonly title?: string;
  readonly help: string;
  readonly label: string;
  /** Every value of the label, if it is a field of the events. */
  readonly values?: readonly string[];
  /** A second label: the field of that name, or the reason of an event that does not have the field. */
  readonly by?: SecondLabel;
}

export type SecondLabel = 'purpose' | 'method' | 'provider';

/** Counters of events. */
export const counterTable = {
  logins: {
    name: 'auth_logins_total',
    title: 'Logins',
    help: 'Logins and restores whose password was checked, by outcome; a restore with the right one is verified',
    label: 'outcome',
  },
  loginFailures: {
    name: 'auth_login_failures_total',
    title: 'Logins that opened no session',
    help: 'Logins and restores that failed or were refused, by reason; second_factor_required: the first factor was right',
    label: 'reason',
  },
  sessionsOpened: {
    name: 'auth_sessions_opened_total',
    title: 'Sessions opened',
    help: 'Sessions that were opened, by the method with which the login began',
    label: 'method',
    values: loginMethods,
  },
  secondFactors: {
    name: 'auth_second_factors_total',
    help: 'Second factors that were compared, at logins, at step-ups and when an app is added, by outcome and method',
    label: 'outcome',
    by: 'method',
  },
  passkeyFaults: {
    name: 'auth_passkeys_refused_total',
    title: 'Passkeys refused',
    help: 'Passkeys that were refused, new or used, by their first fault',
    label: 'fault',
  },
  stepUps: {
    name: 'auth_step_ups_total',
    title: 'Step-ups',
    help: 'Proofs of users of a session that they are there, by method',
    label: 'method',
    values: StepUpMethod.enum,
  },
  refreshes: {
    name: 'auth_refreshes_total',
    title: 'Refreshes',
    help: 'Refreshes by outcome; converged: repeated or slower ones; stolen: the session was ended',
    label: 'outcome',
  },
  refreshesExpired: {
    name: 'auth_refreshes_expired_total',
    title: 'Refreshes that ended with a login',
    help: 'Refreshes with the outcome expired, by reason; proof_…: no right proof of the key of a bound session',
    label: 'reason',
  },
  authorizationFailures: {
    name: 'auth_authorization_failures_total',
    title: 'Authorization refused',
    help: 'Requests that were refused with 401 or 403 by routes that require authorization, by error code',
    label: 'code',
  },
  rateLimited: {
    name: 'auth_rate_limited_total',
    title: 'Rate limited',
    help: 'Requests refused with 429, by rule',
    label: 'rule',
  },
  codes: {
    name: 'auth_codes_total',
    help: 'Codes by e-mail that were asked for, sent again, confirmed and refused, by purpose',
    label: 'outcome',
    by: 'purpose',
  },
  providerCodes: {
    name: 'auth_provider_codes_total',
    title: 'Codes of providers exchanged',
    help: 'Authorization codes of providers that came with logins, by outcome; all but kept: the next login tries again',
    label: 'outcome',
    by: 'provider',
  },
  providerNotices: {
    name: 'auth_provider_notices_total',
    title: 'Security events of providers',
    help: 'Security events of providers about people, by what they say; malformed, algorithm, key (unknown), signature, issuer, audience, time: it was refused for that, and from issuer on the provider has signed it; too_many: it was one too many; unknown_…, surplus: an event that was not understood',
    label: 'notice',
    by: 'provider',
    values: [
      ...securityEventSenders,
      ...Object.keys(securityEventTokenFaults),
      'too_many',
      'unknown_event',
      'unknown_subject',
      'surplus',
    ],
  },
  groupChanges: {
    name: 'auth_group_changes_total',
    title: 'Changes of groups',
    help: 'Changes of groups; a registration by invite does not count',
    label: 'change',
  },
  sessionsEnded: {
    name: 'auth_sessions_ended_total',
    title: 'Sessions ended',
    help: "Sessions that were revoked, by reason; forced logouts are among the worker's metrics",
    label: 'reason',
  },
} as const satisfies Record<string, CounterRow>;

export type CounterName = keyof typeof counterTable;

/** Fields of events in addition to the fields of the request. They never hold a secret or an email address. */
interface Fields {
  readonly user_id: string;
  readonly session_id: string;
  readonly home_group_id: string;
  /** Pseudonym of an account's email address in the limits: see `createLimitKeys`. */
  readonly account: string;
  readonly removed_by: string;
  readonly handed_over_by: string;
  readonly invites_revoked: number;
  readonly method: LoginMethod | StepUpMethod;
  readonly recovery_codes_left: number;
  readonly passkey_id: string;
  readonly identity_id: string;
  readonly provider: string;
  readonly notice: SecurityEventKind;
  readonly purpose: CodePurpose;
  /** Template of the route. */
  readonly route: string;
}
type Field = keyof Fields;

/** A counter that counts an event, and the labels that it gets. */
export interface CountRow {
  readonly in: CounterName;
  /** Value of the counter's label. If `from` is left out too, it is the end of the event's name. */
  readonly as?: string;
  /** Field of the event that has the label's value. The counter's `values` list what it can be, except for reasons. */
  readonly from?: Field | 'reason';
  /** The purpose, if the event does not have it as a field. */
  readonly purpose?: CodePurpose;
  /** Name of a field. Events that have this field are not counted. */
  readonly unless?: Field;
}

/** An event of the audit log. */
export interface AuditRow {
  /** `success` if it is left out. */
  readonly outcome?: 'success' | 'failure';
  /** If a name ends with `?`, the field may be undefined. */
  readonly fields: readonly (Field | `${Field}?`)[];
  /** Reasons with their explanations; '' if the name explains itself. */
  readonly reasons?: Readonly<Record<string, string>>;
  /** Reasons that only other services write. */
  readonly elsewhere?: Readonly<Record<string, string>>;
  /**
   * Reasons for which only samples are written, because a client can cause them at will. All other reasons concern an
   * account or are bounded by a limit. A `login.failed`, for example, is a try that the limits have admitted.
   */
  readonly sampled?: readonly string[];
  /** Reasons that are sampled for all networks together. */
  readonly sampledTogether?: readonly string[];
  /** The counters that count the event. */
  readonly counts?: CountRow | readonly CountRow[];
  /** The event's text in docs/audit.md. */
  readonly meaning: string;
}

type FieldsOf<F extends string> = { readonly [N in F & Field]: Fields[N] } & {
  readonly [N in F as N extends `${infer Name extends Field}?` ? Name : never]: N extends `${infer Name extends Field}?`
    ? Fields[Name] | undefined
    : never;
};
type ReasonOf<Row> = Row extends { readonly reasons: infer R }
  ? { readonly reason: Extract<keyof R | (Row extends { readonly elsewhere: infer E } ? keyof E : never), string> }
  : unknown;

/** The type of an event of that row. */
export type EventOf<Name, Row extends AuditRow> = { readonly event: Name } & FieldsOf<Row['fields'][number]> &
  ReasonOf<Row>;
