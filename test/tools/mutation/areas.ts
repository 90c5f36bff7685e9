import { type Area, ofLimits, useCases } from './area.ts';
import { signInAreas } from './sign-in-areas.ts';

const usualAim = 85;

const verifying = 'libs/verifier/src/access-token';

const tokens: Area = {
  name: 'tokens',
  covers:
    '`libs/tokens` and `libs/verifier/src/access-token`: access and refresh tokens, key sets and files, the cache of ' +
    'verified tokens',
  needsServers: false,
  aim: usualAim,
  parts: [
    {
      sources: [
        'libs/tokens/src/access-token.ts',
        'libs/tokens/src/{access-token-keys,sign-jwt}.ts',
        `${verifying}/access-token-{form,verifier}.ts`,
        `${verifying}/{is-signed-by,key-source,public-keys}.ts`,
      ],
      tests: ['libs/tokens/src/{access-token,live-keys}.test.ts', `${verifying}/access-token-form.test.ts`],
    },
    { sources: [`${verifying}/verifier-cache.ts`], tests: [`${verifying}/verifier-cache.test.ts`] },
    { sources: ['libs/verifier/src/requirements.ts'], tests: ['libs/verifier/src/requirements.test.ts'] },
    { sources: [`${verifying}/key-set.ts`], tests: ['libs/tokens/src/key-file.test.ts'] },
    { sources: ['libs/tokens/src/key-file.ts'], tests: ['libs/tokens/src/key-file.test.ts'] },
    { sources: ['libs/tokens/src/watch-key-file.ts'], tests: ['libs/tokens/src/watch-key-file.test.ts'] },
    {
      sources: ['libs/tokens/src/{write-key-file,generate-key}.ts'],
      tests: ['libs/tokens/src/write-key-file.test.ts'],
    },
    {
      sources: ['libs/tokens/src/{refresh-token,read-secret}.ts'],
      tests: ['libs/tokens/src/refresh-token.test.ts', 'libs/tokens/src/live-keys.test.ts'],
    },
  ],
};

const errors: Area = {
  name: 'errors',
  covers: '`libs/errors` without its tables (catalogue rows, texts of the locales) and generated protobuf code',
  needsServers: false,
  aim: usualAim,
  parts: [
    {
      sources: ['libs/errors/src/{app-error,catalogue,locales,negotiate-locale,notice,validation-item}.ts'],
      tests: ['libs/errors/src/{app-error,catalogue,locales,to-http}.test.ts'],
    },
    {
      sources: ['libs/errors/src/{to-http,text-of,from-http,read-details,restore-error}.ts'],
      tests: ['libs/errors/src/to-http.test.ts'],
    },
    { sources: ['libs/errors/src/decide-write-off.ts'], tests: ['libs/errors/src/decide-write-off.test.ts'] },
    { sources: ['libs/errors/src/grpc/*.ts'], tests: ['libs/errors/src/grpc/grpc.test.ts'] },
  ],
};

const validation: Area = {
  name: 'validation',
  covers: '`services/api/src/http/validation`, and the fields of `libs/contracts` that it compiles',
  needsServers: false,
  aim: usualAim,
  parts: [
    {
      sources: ['services/api/src/http/validation/*.ts'],
      tests: ['services/api/src/http/validation/{body-checks,parse-json,validation-items}.test.ts'],
    },
    {
      sources: ['libs/contracts/src/http/fields.ts'],
      tests: [
        'libs/contracts/src/http/fields.test.ts',
        'services/api/src/http/docs/documents.test.ts',
        'services/api/src/http/validation/contract-fields.test.ts',
      ],
    },
  ],
};

const sessions: Area = {
  name: 'sessions',
  covers:
    'the session store, the use cases of login, refresh, logout and the list of sessions, and the limit of refreshes ' +
    'that is settled in the background',
  needsServers: true,
  aim: usualAim,
  parts: [
    {
      sources: ['libs/stores/src/*/{session-store,session-revocations,trust-ends,fenced-sessions}.ts'],
      tests: ['test/integration/stores/{session-store,advance-session,trust-ends}.test.ts'],
    },
    {
      sources: ['libs/stores/src/*/{advance-session,write-once}.ts'],
      tests: ['test/integration/stores/advance-session.test.ts'],
    },
    {
      sources: [`${useCases}/{decide-refresh,session}.ts`],
      tests: [`${useCases}/decide-refresh.test.ts`, 'test/integration/api/{refresh,log-in}.test.ts'],
    },
    {
      sources: [`${useCases}/refresh.ts`],
      tests: ['test/integration/api/{refresh,refresh-precomputed}.test.ts'],
    },
    { sources: ['services/api/src/limits/settled-limit.ts'], tests: ['test/integration/api/settled-limit.test.ts'] },
    { sources: [`${useCases}/log-in.ts`], tests: ['test/{integration/api/log-in,contract/repeated-login}.test.ts'] },
    {
      sources: [
        `${useCases}/{log-out,log-out-all,revoke-session,list-sessions}.ts`,
        'services/api/src/request/assert-client-connected.ts',
      ],
      tests: ['test/integration/api/session-{ends,ended}.test.ts'],
    },
  ],
};

const account: Area = {
  name: 'account',
  covers:
    'codes by e-mail and the token that undoes a change of email address, and the use cases of a changed or forgotten ' +
    'password, a verified email address, the deletion of an account and its restore',
  needsServers: true,
  // An attacker who gets past these checks has the account.
  aim: 95,
  parts: [
    {
      sources: ['libs/tokens/src/email-{code,change-token}.ts'],
      tests: ['libs/tokens/src/email-{code,change-token}.test.ts'],
    },
    { sources: [`${useCases}/{check,request,resend}-code.ts`], tests: ['test/integration/api/codes.test.ts'] },
    {
      sources: [`${useCases}/reset-password.ts`, 'libs/messaging/src/events/account-events.ts'],
      tests: ['test/integration/api/{reset-password,account-deletion,restore-account}.test.ts'],
    },
    { sources: [`${useCases}/{order,schedule}-deletion.ts`], tests: ['test/integration/api/account-deletion.test.ts'] },
    {
      sources: [`${useCases}/restore-account.ts`],
      tests: ['test/integration/api/restore-account.test.ts'],
    },
    {
      sources: [`${useCases}/{change-password,reauthenticate,end-sessions}.ts`],
      tests: ['test/integration/api/change-password.test.ts'],
    },
    {
      sources: [`${useCases}/{verify-email,request-email-verification,request-code-for-email}.ts`],
      tests: ['test/integration/api/email-verification.test.ts'],
    },
  ],
};

const erasure: Area = {
  name: 'erasure',
  covers: 'the erasure of accounts, and the stores of deletions and of codes',
  needsServers: true,
  aim: 95,
  parts: [
    {
      sources: ['services/worker/src/erasure/erase-accounts.ts'],
      tests: ['test/integration/worker/erase-accounts.test.ts'],
    },
    {
      sources: ['libs/stores/src/erasure/deletion-store.ts'],
      tests: ['test/integration/stores/deletion-store.test.ts'],
    },
    {
      sources: ['libs/stores/src/challenge/challenge-store.ts'],
      tests: ['test/integration/stores/challenge-store.test.ts'],
    },
  ],
};

const address: Area = {
  name: 'address',
  covers: 'the change of an email address, its undo, and the removal of addresses that have lapsed, with their store',
  needsServers: true,
  aim: 95,
  parts: [
    {
      sources: ['libs/stores/src/account/email-change-store.ts'],
      tests: ['test/integration/stores/email-change-store.test.ts'],
    },
    {
      sources: [`${useCases}/{request-email-change,change-email}.ts`],
      tests: ['test/integration/api/email-change.test.ts'],
    },
    { sources: [`${useCases}/undo-email-change.ts`], tests: ['test/integration/api/undo-email-change.test.ts'] },
    {
      sources: ['services/worker/src/erasure/remove-lapsed-emails.ts'],
      tests: ['test/integration/worker/remove-lapsed-emails.test.ts'],
    },
  ],
};

const holder: Area = {
  name: 'holder',
  covers: 'the use cases of an export, of a login on a new device, and of a group that is handed over',
  needsServers: true,
  aim: 95,
  parts: ['export-account', 'new-device', 'hand-over-group'].map((name) => ({
    sources: [`${useCases}/${name}.ts`],
    tests: [`test/integration/api/${name}.test.ts`],
  })),
};

const recovery: Area = {
  name: 'recovery',
  covers: 'transactions with their turns and holds, and the refreshes that wait for a hold',
  needsServers: true,
  aim: 90,
  parts: [
    {
      sources: [
        'libs/stores/src/session/session-hold.ts',
        'libs/stores/src/transactions/{run-transaction,keyed-lock}.ts',
      ],
      tests: ['libs/stores/src/transactions/keyed-lock.test.ts', 'test/integration/stores/transactions.test.ts'],
    },
    {
      sources: [`${useCases}/await-hold.ts`],
      tests: [`${useCases}/await-hold.test.ts`, 'test/integration/api/held-refresh.test.ts'],
    },
  ],
};

const limits: Area = {
  name: 'limits',
  covers: 'the limits of `services/api/src/limits`, but for their Lua scripts and the table of their settings',
  needsServers: true,
  aim: 90,
  parts: [
    { sources: [`${ofLimits}/memory-counts.ts`], tests: [`${ofLimits}/memory-counts.test.ts`] },
    ...['code-limit', 'limits', 'login-{limits,names}', 'request-limit'].map((name) => ({
      sources: [`${ofLimits}/${name}.ts`],
      tests: ['test/integration/api/{limits-*,factor-limit,rate-limit-rules}.test.ts'],
    })),
  ],
};

const deliver = 'services/worker/src/delivery';

const outbox: Area = {
  name: 'outbox',
  covers: 'the outbox store, the queues and the event of `libs/messaging`, the relay and the delivery of the worker',
  needsServers: true,
  aim: usualAim,
  parts: [
    { sources: ['libs/stores/src/outbox/outbox-*.ts'], tests: ['test/integration/stores/outbox-store.test.ts'] },
    {
      sources: ['libs/messaging/src/events/{queues,create-events}.ts'],
      tests: [
        'libs/messaging/src/events/{queues,create-events}.test.ts',
        'test/integration/worker/relay-steps.test.ts',
      ],
    },
    {
      sources: [
        'services/worker/src/relay/{relay,enqueue}.ts',
        `${deliver}/{fan-out,dead-letter-failed-job,suspension}.ts`,
      ],
      tests: ['test/integration/worker/relay-steps.test.ts'],
    },
    {
      sources: ['services/worker/src/relay/outbox-release.ts'],
      tests: ['services/worker/src/relay/outbox-release.test.ts'],
    },
    ...['backoff', '{attempt-recorder,deliver-event}'].map((names) => ({
      sources: [`${deliver}/${names}.ts`],
      tests: [`${deliver}/${names}.test.ts`],
    })),
    { sources: [`${deliver}/webhook.ts`], tests: [`${deliver}/{deliver-event,webhook}.test.ts`] },
    { sources: [`${deliver}/queue-capacity.ts`], tests: ['test/integration/worker/queue-capacity.test.ts'] },
    {
      sources: [`${deliver}/{event-consumers,webhook-consumer}.ts`],
      tests: ['test/integration/worker/consumers.test.ts'],
    },
  ],
};

export const areas: readonly Area[] = [
  ...[tokens, sessions, account, address, holder, recovery, limits],
  ...signInAreas,
  ...[erasure, outbox, errors, validation],
];
