import {
  DeletionRequest,
  DeletionScheduledResponse,
  deletionExamples,
  deletionScheduledExample,
  RestoredResponse,
  RestoreRequest,
  restoredExample,
  restoreExamples,
} from '../deletion.ts';
import type { Route } from '../route.ts';
import { access, common, commonHeaders, fresh } from './shared.ts';

/** Operations that delete an account, and that keep it from being deleted. */
export const deletionRoutes = {
  scheduleDeletion: {
    operationId: 'scheduleDeletion',
    tag: 'Accounts',
    summary: 'Delete the caller’s account',
    description:
      'Ends all sessions at once; their streams close with 4001 `SESSION_REVOKED`. The account is erased at `deletes_at`, ' +
      'a number of days later that the deployment chooses (14 by default, 0 to 30). Until then nobody can log in to it, and ' +
      'it can be restored.\n\n' +
      'Sent twice at once, both get the same `deletes_at`.',
    method: 'post',
    path: '/api/v1/account/deletion',
    auth: 'bearer',
    headers: commonHeaders,
    body: DeletionRequest,
    requests: deletionExamples,
    success: {
      status: 202,
      description: 'The account will be erased.',
      body: DeletionScheduledResponse,
      example: deletionScheduledExample,
    },
    carriesToken: false,
    errors: [...common, ...access, ...fresh],
  },
  restoreAccount: {
    operationId: 'restoreAccount',
    tag: 'Accounts',
    summary: 'Keep an account that is about to be deleted',
    description:
      'Cancels the deletion, if its time has not come. It opens no session: the app logs in afterwards. Tries count ' +
      'like logins. An account that is not about to be deleted stays as it is, and the answer is the same.',
    method: 'post',
    path: '/api/v1/auth/restore',
    auth: 'none',
    headers: commonHeaders,
    body: RestoreRequest,
    requests: restoreExamples,
    success: { status: 200, description: 'The account stays.', body: RestoredResponse, example: restoredExample },
    carriesToken: false,
    errors: [...common, 'ERR-INVALID-CREDENTIALS', 'ERR-ACCOUNT-DISABLED', 'ERR-RATE-LIMITED', 'ERR-OVERLOADED'],
  },
} as const satisfies Record<string, Route>;
