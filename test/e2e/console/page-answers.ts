import type * as Contract from '@auth-account/console/contract';
import { actionNames } from '@auth-account/console/contract';

/** Answers of the console's api, by which the tests of its page drive each view. Names try to run scripts. */

const id = (n: number) => `0193a000-0000-7000-8000-${String(n).padStart(12, '0')}`;
export const userId = id(1);
export const requestId = id(2);
export const groupId = id(3);
export const eventId = id(4);
export const consentId = id(5);
export const liveSession = id(6);
/** Id of the n-th session that has ended. */
export const endedSession = (n: number) => id(100 + n);
export const script = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';

const at = '2026-11-27T07:02:00.000Z';
const later = '2026-11-27T21:30:00.000Z';

export const me = {
  name: 'Olga Operator',
  subject: 'olga',
  role: 'operator',
  token: 'token-of-the-session',
  // No test outlives it.
  session_ends_at: '2100-01-01T00:00:00.000Z',
  actions: actionNames,
  four_eyes: ['deletion.order'],
  trace_url: 'https://traces.example.com/search?id={request_id}',
  deletion_grace_days: 14,
} satisfies Contract.Me;

const session = {
  session_id: liveSession,
  device_id: id(7),
  device_name: script,
  platform: 'web',
  methods: ['pwd', 'otp'],
  is_bound: true,
  created_at: at,
  created_request_id: requestId,
  last_used_at: later,
  expires_at: later,
} satisfies Contract.SessionView;

const reasons: readonly Contract.EndReason[] = [
  'revoked_by_user',
  'logout',
  'replaced',
  'session_limit',
  'refresh_token_reuse',
  'revoked_by_provider',
  'forced',
  'password_changed',
  'account_disabled',
  'account_deleted',
  'expired',
];

const { expires_at: _, ...endedFacts } = session;
const endedSessions = reasons.map(
  (reason, n): Contract.EndedSessionView => ({
    ...endedFacts,
    session_id: endedSession(n),
    device_name: n === 0 ? 'Anna’s phone' : `Device ${n}`,
    platform: 'ios',
    ended_at: at,
    reason,
    request_id: requestId,
    by_device:
      reason === 'revoked_by_user' ? { session_id: liveSession, device_name: 'Anna’s laptop', platform: 'web' } : null,
    notice: reason === 'revoked_by_provider' ? 'apple consent_revoked' : null,
    operator: reason === 'forced' ? { name: 'Ben', reason: 'ticket 4711' } : null,
    replaced_by: reason === 'replaced' ? liveSession : null,
  }),
);

const states: readonly Contract.DeliveryView['state'][] = [
  'delivered',
  'waiting',
  'given_up',
  'suspended',
  'discarded',
  'expired',
];
const messages = states.map(
  (state, n): Contract.MessageView => ({
    event_id: id(200 + n),
    topic: n % 2 === 0 ? 'code_requested' : 'notice',
    purpose: n % 2 === 0 ? 'password_reset' : 'new_device',
    at,
    request_id: requestId,
    deliveries: [
      { subscriber: 'mail', state, at, attempts: 3, last_error: state === 'given_up' ? '550 refused' : null },
    ],
  }),
);

const obstacles: readonly Contract.LoginObstacle[] = [
  { kind: 'locked_elsewhere', until: later },
  { kind: 'disabled', at, reason: 'ticket 1' },
  { kind: 'deletion_ordered', deletes_at: later },
  { kind: 'email_not_verified' },
  { kind: 'password_void' },
  { kind: 'too_many_wrong_passwords' },
  { kind: 'too_many_wrong_factors', until: null },
  { kind: 'identity_disabled', provider: 'apple', at },
  { kind: 'relay_off', provider: 'apple', at },
];

const invite = {
  ref: 'a1b2c3d4e5f6',
  group_id: groupId,
  created_at: at,
  expires_at: later,
  uses: 0,
  max_uses: null,
  state: 'good',
} as const;

export const account = {
  user_id: userId,
  email: 'a…@e….com',
  email_verified_at: at,
  verified_email_required: true,
  pending_email: { email: 'b…@e….com', until: later },
  display_name: 'Anna',
  locale: 'en',
  account_type: 'HOME',
  group: { id: groupId, name: script, members: 2 },
  role: 'owner',
  created_at: at,
  joined_at: at,
  last_login_at: null,
  disabled: { at, by: 'Ben', reason: 'ticket 1' },
  deletes_at: later,
  methods: {
    password: 'argon2id',
    password_changed_at: at,
    passkeys: [{ id: id(8), name: 'Phone', created_at: at, last_used_at: null }],
    identities: [{ id: id(9), provider: 'apple', linked_at: at, disabled_at: at, relay_off_at: at }],
    second_factor: { since: at, recovery_codes: 8, removal: { due_at: later, by: 'mail' } },
    trusted_devices: 1,
  },
  limits: {
    known: true,
    tag: 'q7',
    wrong_passwords: 5,
    wrong_passwords_from_known: 0,
    wrong_passwords_today: 5,
    login_elsewhere_from: later,
    wrong_factors: 0,
    wrong_factors_from_known: 0,
    factor_tries_elsewhere: [],
    codes_asked_elsewhere: [at],
    known_networks: 1,
  },
  logins: { works: false, obstacles },
  sessions: [session],
  ended: { items: endedSessions.slice(0, 6), next: 'six' },
  messages: { items: messages, next: null },
  open_codes: [
    { purpose: 'password_reset', created_at: at, expires_at: later, tries_left: 3, resends_left: 2, resend_at: at },
  ],
  invites: [invite],
} satisfies Contract.AccountView;

/** Of an account with nothing to tell, whose limits are unknown. */
export const quietAccount = {
  ...account,
  display_name: null,
  pending_email: null,
  disabled: null,
  deletes_at: null,
  methods: { ...account.methods, password: 'void', passkeys: [], identities: [], second_factor: null },
  limits: { known: false, why: 'SERVER_KEYS_FILE is not set' },
  logins: { works: true, obstacles: [] },
  sessions: [],
  ended: { items: [], next: null },
  messages: { items: [], next: null },
  open_codes: [],
  invites: [],
} satisfies Contract.AccountView;

export const consent = {
  consent_id: consentId,
  action: 'deletion.order',
  target: userId,
  options: { grace_days: 14 },
  question: `Delete the account ${userId} (anna@example.com)?`,
  digest: 'digest-of-the-plan',
  reason: 'ticket 4711',
  asked_by: 'Ben',
  is_own: false,
  asked_at: at,
  expires_at: later,
  state: 'waiting',
} satisfies Contract.ConsentView;

export const done = {
  state: 'done',
  request_id: requestId,
  facts: { sessions: 2, deletes_at: later },
  problem: 'Redis did not answer',
} satisfies Contract.ActionAnswer;

const step = { at, what: 'inserted into users', facts: { count: 1 } };
const delivery = { subscriber: 'mail', state: 'given_up', at, attempts: 8, last_error: '550 refused' } as const;
const deadLetter = (n: number): Contract.DeadLetterView => ({
  event_id: id(300 + n),
  subscriber: 'mail',
  topic: 'notice',
  attempts: 8,
  last_error: '550 refused',
  given_up_at: at,
});

/** Every path that answers 200, by method and path. */
export const answers: Readonly<Record<string, unknown>> = {
  'GET /api/me': me,
  'POST /api/find': { kind: 'account', path: `/accounts/${userId}` } satisfies Contract.Found,
  [`GET /api/accounts/${userId}`]: account,
  [`GET /api/accounts/${userId}/ended?after=six`]: {
    items: endedSessions.slice(6),
    next: null,
  } satisfies Contract.Page<Contract.EndedSessionView>,
  [`GET /api/accounts/${userId}/timeline`]: {
    items: [{ at, request_id: requestId, steps: [step] }],
    next: null,
  } satisfies Contract.Page<Contract.TimelineEntry>,
  [`POST /api/accounts/${userId}/address`]: {
    email: 'anna@example.com',
    pending_email: null,
  } satisfies Contract.AddressView,
  [`GET /api/groups/${groupId}`]: {
    group_id: groupId,
    account_type: 'HOME',
    name: script,
    created_at: at,
    closed_at: null,
    members: [{ user_id: userId, email: 'a…@e….com', role: 'owner', joined_at: at }],
    invites: [invite, { ...invite, ref: 'used', state: 'used_up', max_uses: 1, uses: 1 }],
  } satisfies Contract.GroupView,
  [`GET /api/requests/${requestId}`]: {
    request_id: requestId,
    steps: [{ ...step, after_ms: 12 }],
    gaps: ['Redis did not answer'],
  } satisfies Contract.RequestView,
  [`GET /api/events/${eventId}`]: {
    event_id: eventId,
    topic: 'code_requested',
    state: 'dead',
    user_id: userId,
    request_id: requestId,
    at,
    deliveries: [delivery],
    attempts: [{ subscriber: 'mail', at, outcome: 'refused', status: 550, error: 'no such mailbox' }],
  } satisfies Contract.EventView,
  'GET /api/consents': [consent] satisfies readonly Contract.ConsentView[],
  [`GET /api/consents/${consentId}`]: consent,
  [`POST /api/consents/${consentId}/give`]: done,
  'POST /api/plans': {
    question: consent.question,
    digest: consent.digest,
    needs_consent: false,
  } satisfies Contract.PlanAnswer,
  'POST /api/actions': done,
  'GET /api/system': {
    read_at: later,
    checks: [
      { check: 'mongodb', status: 'ok', detail: 'It answers.', fix: null },
      { check: 'mail', status: 'failed', detail: 'The subscriber mail refuses.', fix: 'See docs/runbooks.' },
    ],
    processes: [
      { process: 'api 10.0.0.1', version: '0.1.0', generation: 3, clock_ahead_ms: 4, settings: { PORT: 8080 } },
    ],
    outbox: { waiting: 3, oldest_seconds: null },
    queues: [{ name: 'account', waiting: 1, active: 0, delayed: 2, failed: 0 }],
    subscribers: [
      { name: 'mail', configured: true, suspended_at: null, suspended_by: null, dead_letters: 2 },
      { name: 'crm', configured: true, suspended_at: at, suspended_by: 'Ben', dead_letters: 0 },
    ],
    deny_list: { is_complete: true, entries: 4 },
    streams: [{ process: 'push-gateway 1', open: 12 }],
    limits: { span: 'hour', rules: [{ rule: 'login_address', refused: 7 }] },
    keys: [{ kind: 'access', kid: 'k1', signs: ['api 1'], accepts: ['api 1', 'push-gateway 1'] }],
    gaps: ['Prometheus did not answer'],
  } satisfies Contract.SystemView,
  'GET /api/dead-letters': { items: [deadLetter(1)], next: 'one' } satisfies Contract.Page<Contract.DeadLetterView>,
  'GET /api/dead-letters?after=one': {
    items: [deadLetter(2)],
    next: null,
  } satisfies Contract.Page<Contract.DeadLetterView>,
  'POST /sign-out': { end_session_url: null },
};
