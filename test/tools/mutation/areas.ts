import { type Area, area, ofLimits, useCases } from './area.ts';
import { signInAreas } from './sign-in-areas.ts';

const verifying = 'libs/verifier/src/access-token';
const validating = 'services/api/src/http/validation';
const delivery = 'services/worker/src/delivery';
const relay = 'services/worker/src/relay';

const sessions = area(
  'sessions',
  85,
  'the session store, the use cases of login, refresh, logout and the list of sessions, and the limit of refreshes that is settled in the background',
  [
    'libs/stores/src/*/{session-store,session-revocations,trust-ends,fenced-sessions}.ts',
    'test/integration/stores/{session-store,advance-session,trust-ends}.test.ts',
  ],
  ['libs/stores/src/*/{advance-session,write-once}.ts', 'test/integration/stores/advance-session.test.ts'],
  [
    `${useCases}/{decide-refresh,session}.ts`,
    `${useCases}/decide-refresh.test.ts`,
    'test/integration/api/{refresh,log-in}.test.ts',
  ],
  [`${useCases}/refresh.ts`, 'test/integration/api/{refresh,refresh-precomputed}.test.ts'],
  [`${ofLimits}/settled-limit.ts`, 'test/integration/api/settled-limit.test.ts'],
  [`${useCases}/log-in.ts`, 'test/{integration/api/log-in,contract/repeated-login}.test.ts'],
  [
    `{${useCases}/{log-out,log-out-all,revoke-session,list-sessions},services/api/src/request/assert-client-connected}.ts`,
    'test/integration/api/session-{ends,ended}.test.ts',
  ],
);

/** Areas in which an attacker who gets past a check has the account, or in which data is lost. */
const strictAreas: readonly Area[] = [
  area(
    'account',
    95,
    'codes by e-mail and the token that undoes a change of email address, and the use cases of a changed or forgotten password, a verified email address, the deletion of an account and its restore',
    ['libs/tokens/src/email-{code,change-token}.ts', 'libs/tokens/src/email-{code,change-token}.test.ts'],
    [`${useCases}/{check,request,resend}-code.ts`, 'test/integration/api/codes.test.ts'],
    [
      `{${useCases}/reset-password,libs/messaging/src/events/account-events}.ts`,
      'test/integration/api/{reset-password,account-deletion,restore-account}.test.ts',
    ],
    [`${useCases}/{order,schedule}-deletion.ts`, 'test/integration/api/account-deletion.test.ts'],
    [`${useCases}/restore-account.ts`, 'test/integration/api/restore-account.test.ts'],
    [`${useCases}/{change-password,reauthenticate,end-sessions}.ts`, 'test/integration/api/change-password.test.ts'],
    [
      `${useCases}/{verify-email,request-email-verification,request-code-for-email}.ts`,
      'test/integration/api/email-verification.test.ts',
    ],
  ),
  area(
    'address',
    95,
    'the change of an email address, its undo, and the removal of addresses that have lapsed, with their store',
    ['libs/stores/src/account/email-change-store.ts', 'test/integration/stores/email-change-store.test.ts'],
    [`${useCases}/{request-email-change,change-email}.ts`, 'test/integration/api/email-change.test.ts'],
    [`${useCases}/undo-email-change.ts`, 'test/integration/api/undo-email-change.test.ts'],
    ['services/worker/src/erasure/remove-lapsed-emails.ts', 'test/integration/worker/remove-lapsed-emails.test.ts'],
  ),
  area(
    'holder',
    95,
    'the use cases of an export, of a login on a new device, and of a group that is handed over',
    [`${useCases}/export-account.ts`, 'test/integration/api/export-account.test.ts'],
    [`${useCases}/new-device.ts`, 'test/integration/api/new-device.test.ts'],
    [`${useCases}/hand-over-group.ts`, 'test/integration/api/hand-over-group.test.ts'],
  ),
];

const erasure = area(
  'erasure',
  95,
  'the erasure of accounts, and the stores of deletions and of codes',
  ['services/worker/src/erasure/erase-accounts.ts', 'test/integration/worker/erase-accounts.test.ts'],
  ['libs/stores/src/erasure/deletion-store.ts', 'test/integration/stores/deletion-store.test.ts'],
  ['libs/stores/src/challenge/challenge-store.ts', 'test/integration/stores/challenge-store.test.ts'],
);

const recovery = area(
  'recovery',
  90,
  'transactions with their turns and holds, and the refreshes that wait for a hold',
  [
    'libs/stores/src/{session/session-hold,transactions/{run-transaction,keyed-lock}}.ts',
    'libs/stores/src/transactions/keyed-lock.test.ts',
    'test/integration/stores/transactions.test.ts',
  ],
  [`${useCases}/await-hold.ts`, `${useCases}/await-hold.test.ts`, 'test/integration/api/held-refresh.test.ts'],
);

const limits = area(
  'limits',
  90,
  'the limits of `services/api/src/limits`, but for their Lua scripts and the table of their settings',
  [`${ofLimits}/memory-counts.ts`, `${ofLimits}/memory-counts.test.ts`],
  ...['code-limit', 'limits', 'login-{limits,names}', 'request-limit'].map(
    (name) =>
      [`${ofLimits}/${name}.ts`, 'test/integration/api/{limits-*,factor-limit,rate-limit-rules}.test.ts'] as const,
  ),
);

const outbox = area(
  'outbox',
  85,
  'the outbox store, the queues and the event of `libs/messaging`, the relay and the delivery of the worker',
  ['libs/stores/src/outbox/outbox-*.ts', 'test/integration/stores/outbox-store.test.ts'],
  [
    'libs/messaging/src/events/{queues,create-events}.ts',
    'libs/messaging/src/events/{queues,create-events}.test.ts',
    'test/integration/worker/relay-steps.test.ts',
  ],
  [
    `{${relay}/{relay,enqueue},${delivery}/{fan-out,dead-letter-failed-job,suspension}}.ts`,
    'test/integration/worker/relay-steps.test.ts',
  ],
  [`${relay}/outbox-release.ts`, `${relay}/outbox-release.test.ts`],
  [`${delivery}/backoff.ts`, `${delivery}/backoff.test.ts`],
  [`${delivery}/{attempt-recorder,deliver-event}.ts`, `${delivery}/{attempt-recorder,deliver-event}.test.ts`],
  [`${delivery}/webhook.ts`, `${delivery}/{deliver-event,webhook}.test.ts`],
  [`${delivery}/queue-capacity.ts`, 'test/integration/worker/queue-capacity.test.ts'],
  [`${delivery}/{event-consumers,webhook-consumer}.ts`, 'test/integration/worker/consumers.test.ts'],
);

const tokens = area(
  'tokens',
  85,
  '`libs/tokens` and `libs/verifier/src/access-token`: access and refresh tokens, key sets and files, the cache of verified tokens',
  [
    `{libs/tokens/src/{access-token,access-token-keys,sign-jwt},${verifying}/{access-token-form,access-token-verifier,is-signed-by,key-source,public-keys}}.ts`,
    'libs/tokens/src/{access-token,live-keys}.test.ts',
    `${verifying}/access-token-form.test.ts`,
  ],
  [`${verifying}/verifier-cache.ts`, `${verifying}/verifier-cache.test.ts`],
  ['libs/verifier/src/requirements.ts', 'libs/verifier/src/requirements.test.ts'],
  [`${verifying}/key-set.ts`, 'libs/tokens/src/key-file.test.ts'],
  ['libs/tokens/src/key-file.ts', 'libs/tokens/src/key-file.test.ts'],
  ['libs/tokens/src/watch-key-file.ts', 'libs/tokens/src/watch-key-file.test.ts'],
  ['libs/tokens/src/{write-key-file,generate-key}.ts', 'libs/tokens/src/write-key-file.test.ts'],
  ['libs/tokens/src/{refresh-token,read-secret}.ts', 'libs/tokens/src/{refresh-token,live-keys}.test.ts'],
);

const errors = area(
  'errors',
  85,
  '`libs/errors` without its tables (catalogue rows, texts of the locales) and generated protobuf code',
  [
    'libs/errors/src/{app-error,catalogue,locales,negotiate-locale,notice,validation-item}.ts',
    'libs/errors/src/{app-error,catalogue,locales,to-http}.test.ts',
  ],
  ['libs/errors/src/{to-http,text-of,from-http,read-details,restore-error}.ts', 'libs/errors/src/to-http.test.ts'],
  ['libs/errors/src/decide-write-off.ts', 'libs/errors/src/decide-write-off.test.ts'],
  ['libs/errors/src/grpc/*.ts', 'libs/errors/src/grpc/grpc.test.ts'],
);

const validation = area(
  'validation',
  85,
  '`services/api/src/http/validation`, and the fields of `libs/contracts` that it compiles',
  [`${validating}/*.ts`, `${validating}/{body-checks,parse-json,validation-items}.test.ts`],
  [
    'libs/contracts/src/http/fields.ts',
    'libs/contracts/src/http/fields.test.ts',
    'services/api/src/http/docs/documents.test.ts',
    `${validating}/contract-fields.test.ts`,
  ],
);

export const areas: readonly Area[] = [
  ...[tokens, sessions, ...strictAreas, recovery, limits],
  ...signInAreas,
  ...[erasure, outbox, errors, validation],
];
