import type { AuthEvent } from '@auth-account/contracts/events';
import type { RestoredResponse, RestoreRequest } from '@auth-account/contracts/http/deletion';
import { AppError } from '@auth-account/errors';
import { eventOrigin } from '@auth-account/messaging';
import { deletionCancelledEvent } from '@auth-account/messaging/account-events';
import type { OutboxStore, RunTransaction, UserStore } from '@auth-account/stores';
import type { DeletionStore } from '@auth-account/stores/deletions';
import type { UserDocument } from '@auth-account/stores/documents';
import { hasSameCredentials, isDue } from '@auth-account/stores/users';
import type { ClientSession } from 'mongodb';
import type { Audit } from '../audit/audit.ts';
import type { Ids } from '../request/ids.ts';
import type { RequestOrigin } from '../request/request-origin.ts';
import { assertClientConnected } from './assert-client-connected.ts';
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

/** Times that a restore tries again if another order of the same account's deletion came between. */
const mostTries = 3;

/**
 * Cancels the deletion of the account with that password, and opens no session. An account that is not about to be
 * deleted stays as it is: the answer to an earlier try may have been lost.
 *
 * Raises the errors of {@link Authenticate}, `ERR-INVALID-CREDENTIALS` also if the time of the erasure has come,
 * `ERR-ACCOUNT-DISABLED`, and `ERR-DEPENDENCY-UNAVAILABLE` if deletions are ordered again and again meanwhile.
 */
export function createRestoreAccount(deps: RestoreAccountDeps) {
  const { users, deletions, outbox, authenticate, transaction, publishEvent, audit, ids, now } = deps;

  /**
   * Cancels the deletion that was seen, and returns its event; undefined if that one does not wait. A request that its
   * client has given up must not cancel a later one.
   */
  async function cancel(user: UserDocument, origin: RequestOrigin): Promise<AuthEvent | undefined> {
    const { deletes_at: deletesAt } = user;
    if (deletesAt === undefined) return;
    const at = now();
    const event = deletionCancelledEvent(user._id, eventOrigin(origin, at, ids));
    const work = async (session: ClientSession) => {
      assertClientConnected(origin);
      const isCancelled = await deletions.cancel(user, at, session, { deletesAt });
      if (isCancelled) await outbox.append(event, at, session);
      return isCancelled;
    };
    const isCommitted = () => outbox.exists(event.id);
    return (await transaction(work, { isCommitted, group: user._id })) ? event : undefined;
  }

  /** Returns the account as it is now. Throws unless the same credentials may still restore it. */
  async function readAgain(seen: UserDocument): Promise<UserDocument> {
    const user = await users.find(seen._id);
    if (user === undefined || !hasSameCredentials(seen, user)) throw new AppError('ERR-INVALID-CREDENTIALS');
    if (user.disabled_at !== undefined) throw new AppError('ERR-ACCOUNT-DISABLED');
    // It is as good as erased.
    if (isDue(user, now())) throw new AppError('ERR-INVALID-CREDENTIALS');
    return user;
  }

  /** Cancels the deletion that waits, also one that is ordered at the same time; undefined if there is none. */
  async function cancelAny(seen: UserDocument, origin: RequestOrigin): Promise<AuthEvent | undefined> {
    let user = seen;
    for (let tries = 0; tries < mostTries; tries += 1) {
      const event = await cancel(user, origin);
      if (event !== undefined) return event;
      user = await readAgain(seen);
      if (user.deletes_at === undefined) return;
    }
    throw new AppError('ERR-DEPENDENCY-UNAVAILABLE');
  }

  return async (input: RestoreRequest, origin: RequestOrigin): Promise<RestoredResponse['data']> => {
    // If it has no device id, no account knows the device.
    const deviceId = input.device_id?.toLowerCase() ?? ids.groupId();
    const seen = await authenticate({ ...input, deviceId }, origin);
    const event = await cancelAny(seen, origin);
    if (event !== undefined) {
      publishEvent(event);
      audit({ event: 'account.deletion_cancelled', user_id: seen._id }, origin);
    }
    return { message: 'ACCOUNT_RESTORED', timestamp: now().toISOString() };
  };
}
