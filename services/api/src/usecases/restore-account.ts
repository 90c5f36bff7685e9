import type { AuthEvent } from '@auth-account/contracts/events';
import type { RestoredResponse, RestoreRequest } from '@auth-account/contracts/http/deletion';
import { AppError } from '@auth-account/errors';
import { eventOrigin } from '@auth-account/messaging';
import { deletionCancelledEvent } from '@auth-account/messaging/account-events';
import type { OutboxStore, RunTransaction, UserStore } from '@auth-account/stores';
import type { DeletionStore } from '@auth-account/stores/deletions';
import type { UserDocument } from '@auth-account/stores/documents';
import { hasSameCredentials } from '@auth-account/stores/users';
import type { ClientSession } from 'mongodb';
import type { Audit } from '../audit/audit.ts';
import type { Ids } from '../request/ids.ts';
import type { RequestOrigin } from '../request/request-origin.ts';
import type { Authenticate } from './authenticate.ts';

export interface RestoreAccountDeps {
  readonly users: Pick<UserStore, 'find'>;
  readonly deletions: Pick<DeletionStore, 'cancel'>;
  readonly outbox: Pick<OutboxStore, 'append' | 'exists'>;
  readonly authenticate: Authenticate;
  readonly transaction: RunTransaction;
  readonly publishEvent: (event: AuthEvent) => void;
  readonly audit: Audit;
  readonly ids: Pick<Ids, 'entityId' | 'groupId'>;
  readonly now: () => Date;
}

/**
 * Cancels the deletion of the account with that password, and opens no session. An account that is not about to be
 * deleted stays as it is: the answer to an earlier try may have been lost.
 *
 * Raises the errors of {@link Authenticate}, `ERR-INVALID-CREDENTIALS` also if the time of the erasure has come, and
 * `ERR-ACCOUNT-DISABLED`.
 */
export function createRestoreAccount(deps: RestoreAccountDeps) {
  const { users, deletions, outbox, authenticate, transaction, publishEvent, audit, ids, now } = deps;

  /** Cancels the deletion, and returns its event; undefined if there is none that can be cancelled. */
  async function cancel(user: UserDocument, origin: RequestOrigin): Promise<AuthEvent | undefined> {
    const at = now();
    const event = deletionCancelledEvent(user._id, eventOrigin(origin, at, ids));
    const work = async (session: ClientSession) => {
      const isCancelled = await deletions.cancel(user, at, session);
      if (isCancelled) await outbox.append(event, at, session);
      return isCancelled;
    };
    const isCommitted = () => outbox.exists(event.id);
    return (await transaction(work, { isCommitted, group: user._id })) ? event : undefined;
  }

  return async (input: RestoreRequest, origin: RequestOrigin): Promise<RestoredResponse['data']> => {
    // If it has no device id, no account knows the device.
    const deviceId = input.device_id?.toLowerCase() ?? ids.groupId();
    const seen = await authenticate({ ...input, deviceId }, origin);
    const event = await cancel(seen, origin);
    if (event === undefined) {
      const user = await users.find(seen._id);
      if (user === undefined || !hasSameCredentials(seen, user)) throw new AppError('ERR-INVALID-CREDENTIALS');
      if (user.disabled_at !== undefined) throw new AppError('ERR-ACCOUNT-DISABLED');
      // It is as good as erased.
      if (user.deletes_at !== undefined) throw new AppError('ERR-INVALID-CREDENTIALS');
    } else {
      publishEvent(event);
      audit({ event: 'account.deletion_cancelled', user_id: seen._id }, origin);
    }
    return { message: 'ACCOUNT_RESTORED', timestamp: now().toISOString() };
  };
}
