import { confirmedRead } from '@auth-account/stores/fenced-sessions';
import { type OrderOptions, orderForceLogout } from '../commands/order-force-logout.ts';
import type { Mongo, RedisStore } from '../context.ts';
import { OperationError } from '../operation-error.ts';

/**
 * Ends one session by a forced logout. Throws an `OperationError`: `unknown` if there is no such session, `refused` if it
 * has ended already, and what `orderForceLogout` throws.
 */
export async function revokeSession(
  { collections, ...store }: Pick<Mongo, 'collections'> & RedisStore,
  sessionId: string,
  options: OrderOptions,
) {
  const session = await collections.sessions.findOne(
    { _id: sessionId },
    { ...confirmedRead, projection: { is_revoked: 1 } },
  );
  if (session === null) throw new OperationError('unknown', `There is no session ${sessionId}.`);
  if (session.is_revoked) throw new OperationError('refused', `Session ${sessionId} is revoked already.`);
  return await orderForceLogout(store, { session_id: sessionId }, options);
}
