import {
  AccountResponse,
  accountExample,
  ChangeAccountRequest,
  ChangePasswordRequest,
  changeAccountExamples,
  changePasswordExamples,
  PasswordChangedResponse,
  passwordChangedExample,
} from '../account.ts';
import {
  AccountExportResponse,
  accountExportExample,
  ExportAccountRequest,
  exportAccountExamples,
} from '../account-export.ts';
import { RegisterRequest, RegisterResponse, registerExamples, registeredExample } from '../register.ts';
import type { Route } from '../route.ts';
import { access, common, commonHeaders, fresh, knownHeaders, refusedStepUp, withoutBody } from './shared.ts';

/** Operations on accounts. */
export const accountRoutes = {
  registerAccount: {
    operationId: 'registerAccount',
    tag: 'Accounts',
    promises: 'registration.md',
    client: 'core',
    summary: 'Create an account',
    description:
      'Creates a user and either a new space (`CREATE_NEW_HOME`, `CREATE_NEW_OFFICE`) or a membership in the group of ' +
      'an invite (`JOIN_EXISTING`). All of it or nothing is stored. After a 201 the app shows the login screen.\n\n' +
      'Of an invite token, 404 says that it never named an invite, 410 that the invite has expired, was revoked or is ' +
      'used up, or that its group is full. The create modes ignore its value.\n\n' +
      'The account knows the network and, if it is given, the `device_id` of its registration: failed logins from ' +
      'elsewhere do not keep its owner out there. Send the `device_id` that the app sends at login.',
    method: 'post',
    path: '/api/v1/auth/register',
    auth: 'none',
    headers: [...knownHeaders, 'Idempotency-Key'],
    body: RegisterRequest,
    requests: registerExamples,
    success: { status: 201, description: 'The account exists.', body: RegisterResponse, example: registeredExample },
    errors: [
      ...common,
      'ERR-EMAIL-ALREADY-EXISTS',
      'ERR-INVITE-TOKEN-INVALID',
      'ERR-IDEMPOTENCY-KEY-REUSED',
      'ERR-RATE-LIMITED',
      'ERR-OVERLOADED',
    ],
  },
  findAccount: {
    operationId: 'findAccount',
    tag: 'Accounts',
    promises: 'account.md',
    client: 'account.find',
    summary: 'Show the caller’s account',
    description:
      'The account as its owner sees it. `password_changed_at` is `created_at` as long as the password is the first one.',
    method: 'get',
    path: '/api/v1/account',
    auth: 'bearer',
    headers: commonHeaders,
    success: {
      status: 200,
      description: 'The account.',
      body: AccountResponse,
      example: accountExample,
    },
    errors: [...withoutBody, ...access],
  },
  changeAccount: {
    operationId: 'changeAccount',
    tag: 'Accounts',
    promises: 'account.md',
    client: 'account.change',
    summary: 'Change the caller’s name or language',
    description:
      'A field that is absent stays as it is, and null removes its value. The members of the group see the name, and ' +
      'so does whoever previews an invite of the caller’s. The language is that of mails; messages in answers follow ' +
      '`Accept-Language`.',
    method: 'patch',
    path: '/api/v1/account',
    auth: 'bearer',
    headers: commonHeaders,
    body: ChangeAccountRequest,
    requests: changeAccountExamples,
    success: {
      status: 200,
      description: 'The account now.',
      body: AccountResponse,
      example: accountExample,
    },
    errors: [...common, ...access, 'ERR-RATE-LIMITED'],
  },
  changePassword: {
    operationId: 'changePassword',
    tag: 'Accounts',
    promises: 'account.md#password',
    client: 'account.changePassword',
    summary: 'Change the password',
    description:
      'All other sessions of the caller end, and their streams close with 4001 `SESSION_REVOKED`; this one goes on. A ' +
      'wrong `current_password` counts as a failed login of this device. An account has few changes a day.',
    method: 'post',
    path: '/api/v1/account/password',
    auth: 'bearer',
    headers: commonHeaders,
    body: ChangePasswordRequest,
    requests: changePasswordExamples,
    success: {
      status: 200,
      description: 'The new password holds.',
      body: PasswordChangedResponse,
      example: passwordChangedExample,
    },
    errors: [...common, ...access, ...fresh],
    errorStatuses: refusedStepUp,
  },
  exportAccount: {
    operationId: 'exportAccount',
    tag: 'Accounts',
    promises: 'account.md#export',
    client: 'account.exportData',
    summary: 'Export everything that is held of the caller',
    description:
      'Account, membership, sessions and the invites that the caller has made: the newest 10,000 of sessions that are ' +
      'over and of invites. No secret, and nothing of anybody else. A wrong `current_password` counts as a failed login ' +
      'of this device. An account has few exports an hour.',
    method: 'post',
    path: '/api/v1/account/export',
    auth: 'bearer',
    headers: commonHeaders,
    body: ExportAccountRequest,
    requests: exportAccountExamples,
    success: {
      status: 200,
      description: 'Everything that is held.',
      body: AccountExportResponse,
      example: accountExportExample,
    },
    errors: [...common, ...access, ...fresh],
    errorStatuses: refusedStepUp,
  },
} as const satisfies Record<string, Route>;
