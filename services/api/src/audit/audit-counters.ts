import { type Route, routes } from '@auth-account/contracts';
import { CodePurpose } from '@auth-account/contracts/events';
import { isThrowableCode, rowOf, type ThrowableCode } from '@auth-account/errors';
import type { RevocationReason } from '@auth-account/stores/documents';
import { createZeroedCounter, type Metrics } from '@auth-account/telemetry';
import { limitRules } from '../limits/limits-table.ts';
import type { AuditEvent, AuditEventName } from './events.ts';

export type AuditCounters = ReturnType<typeof createAuditCounters>;

/** Names of a family of events, so that the compiler names the ones that a table below lacks. */
type EventsOf<Family extends string> = Extract<AuditEventName, `${Family}.${string}`>;

/** Outcomes of a login. */
const loginOutcomes = {
  'login.succeeded': 'succeeded',
  'login.failed': 'failed',
  'login.verified': 'verified',
  'login.refused': 'refused',
} as const satisfies Record<EventsOf<'login'>, string>;

/** Outcomes of a refresh. */
const refreshOutcomes = {
  'refresh.rotated': 'rotated',
  'refresh.converged': 'converged',
  'refresh.expired': 'expired',
  'refresh.revoked': 'revoked',
  'refresh.stolen': 'stolen',
  'refresh.abandoned': 'abandoned',
} as const satisfies Record<EventsOf<'refresh'>, string>;

/** Changes of a group's members and owner. */
const groupChanges = {
  'group.joined': 'joined',
  'group.left': 'left',
  'group.removed': 'removed',
  'group.owner_changed': 'owner_changed',
  'group.closed': 'closed',
} as const satisfies Record<Exclude<EventsOf<'group'>, 'group.renamed'>, string>;

/** Outcomes of a code that are the reasons of `code.failed`, or events of their own. */
const codeOutcomes = ['requested', 'resent', 'confirmed', 'wrong', 'dead', 'expired', 'unknown'] as const;

/** The change that a code of each purpose permits. */
const confirmations = {
  email_verification: 'account.email_verified',
  password_reset: 'account.password_reset',
  email_change: 'account.email_changed',
  account_deletion: 'account.deletion_scheduled',
} as const satisfies Record<CodePurpose, AuditEventName>;

/** Reasons for which the api ends sessions. The others are those of the worker and of operators. */
const endReasons = Object.keys({
  logout: true,
  replaced: true,
  session_limit: true,
  refresh_token_reuse: true,
  revoked_by_user: true,
  password_changed: true,
  account_deleted: true,
} satisfies Record<Exclude<RevocationReason, 'forced' | 'account_disabled'>, true>);

/** The counters that the audit log's events keep. */
export function createAuditCounters(registry: Metrics['registry']) {
  return {
    logins: createZeroedCounter({
      registry,
      name: 'auth_logins_total',
      help: 'Logins and restores whose password was checked, by outcome; a restore with the right one is verified',
      values: { outcome: Object.values(loginOutcomes) },
    }),
    refreshes: createZeroedCounter({
      registry,
      name: 'auth_refreshes_total',
      help: 'Refreshes by outcome',
      values: { outcome: Object.values(refreshOutcomes) },
    }),
    authorizationFailures: createZeroedCounter({
      registry,
      name: 'auth_authorization_failures_total',
      help: 'Requests that were refused with 401 or 403 by routes that require authorization, by error code',
      values: { code: authorizationCodes },
    }),
    rateLimited: createZeroedCounter({
      registry,
      name: 'auth_rate_limited_total',
      help: 'Requests refused with 429, by rule',
      values: { rule: limitRules },
    }),
    codes: createZeroedCounter({
      registry,
      name: 'auth_codes_total',
      help: 'Codes by e-mail that were asked for, sent again, confirmed and refused, by purpose',
      values: { purpose: CodePurpose.enum, outcome: codeOutcomes },
    }),
    groupChanges: createZeroedCounter({
      registry,
      name: 'auth_group_changes_total',
      help: 'Changes of groups; a registration by invite does not count',
      values: { change: Object.values(groupChanges) },
    }),
    sessionsEnded: createZeroedCounter({
      registry,
      name: 'auth_sessions_ended_total',
      help: "Sessions that were revoked, by reason; forced logouts are among the worker's metrics",
      values: { reason: endReasons },
    }),
  };
}

/** Creates the function that counts each event. */
export function countAuditEvents(counters: AuditCounters): (event: AuditEvent) => void {
  const steps: Partial<Record<AuditEventName, (event: AuditEvent) => void>> = {};
  for (const [name, outcome] of Object.entries(loginOutcomes)) {
    steps[name as AuditEventName] = () => counters.logins.inc({ outcome });
  }
  for (const [name, outcome] of Object.entries(refreshOutcomes)) {
    steps[name as AuditEventName] = () => counters.refreshes.inc({ outcome });
  }
  for (const [name, change] of Object.entries(groupChanges)) {
    steps[name as AuditEventName] = () => counters.groupChanges.inc({ change });
  }
  for (const [purpose, name] of Object.entries(confirmations)) {
    steps[name] = (event) => {
      if (isByCode(event)) counters.codes.inc({ purpose, outcome: 'confirmed' });
    };
  }
  return (event) => {
    if ('purpose' in event) counters.codes.inc({ purpose: event.purpose, outcome: codeOutcomeOf(event) });
    else if (event.event === 'authorization.failed') counters.authorizationFailures.inc({ code: event.reason });
    else if (event.event === 'limit.exceeded') counters.rateLimited.inc({ rule: event.reason });
    else if (event.event === 'session.revoked') counters.sessionsEnded.inc({ reason: event.reason });
    else if (event.event === 'logout.succeeded') counters.sessionsEnded.inc({ reason: 'logout' });
    else steps[event.event]?.(event);
  };
}

/** A deletion is also ordered with the password, in a session. */
const isByCode = (event: AuditEvent) => event.event !== 'account.deletion_scheduled' || event.session_id === undefined;

function codeOutcomeOf(event: Extract<AuditEvent, { readonly purpose: CodePurpose }>) {
  if (event.event === 'code.failed') return event.reason;
  return event.event === 'code.requested' ? 'requested' : 'resent';
}

/** Statuses that refuse authorization. */
const statuses: readonly number[] = [401, 403];

/** Returns true if the status refuses authorization. */
export const isAuthorizationStatus = (status: number): boolean => statuses.includes(status);

const guarded: readonly Route[] = Object.values<Route>(routes).filter(({ auth }) => auth !== 'none');

/** All codes with which a route that requires authorization refuses it, in the order of the contract. */
export const authorizationCodes: readonly ThrowableCode[] = [
  ...new Set(guarded.flatMap(({ errors }) => errors).filter(isThrowableCode)),
].filter((code) => isAuthorizationStatus(rowOf(code).http));
