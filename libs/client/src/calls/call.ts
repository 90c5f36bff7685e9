import type { OperationTypes } from '../generated/operation-types.ts';
import {
  type Operation,
  type OperationName,
  takesDeviceId,
  takesIdempotencyKey,
  takesToken,
} from '../generated/operations.ts';
import { AuthError, isLost } from '../http/auth-error.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Platform } from '../platform/platform.ts';
import type { Access } from '../session/access.ts';
import { ownReactionTo } from '../session/end-reason.ts';
import type { SessionManager } from '../session/session-manager.ts';
import type { DeviceId } from './device-id.ts';

export type Data<N extends OperationName> = OperationTypes[N]['data'];
export type Body<N extends OperationName> = OperationTypes[N] extends { readonly body: infer B } ? B : never;

export interface CallInput {
  /** Parameters of the path, in the order of the path. */
  readonly params?: readonly string[];
  readonly body?: object | undefined;
  /** Idempotency key. If the operation takes a key and none is given, a new key is made. */
  readonly idempotencyKey?: string;
  /** Called before each request. Returns false if the work must no longer be done. */
  readonly isWanted?: () => boolean;
}

/**
 * Calls an operation. If the operation takes them, adds the device's id, the access token (with one transparent
 * refresh) and an idempotency key. A call with a key is repeated once if its answer was lost.
 */
export type Call = <N extends OperationName>(operation: Operation<N>, input?: CallInput) => Promise<Data<N>>;

/**
 * Does the work with an access token. If the service refuses the token, does the work once more with another token.
 * Raises `CLIENT_SUPERSEDED` if another login has replaced the session since, or if the work is no longer wanted.
 */
export async function withAccess<T>(
  sessionManager: SessionManager,
  work: (access: Access) => Promise<T>,
  isWanted: () => boolean = () => true,
): Promise<T> {
  const access = await sessionManager.access();
  if (!isWanted()) throw new AuthError('CLIENT_SUPERSEDED');
  // The user may have logged out since the token was handed out.
  sessionManager.assertHeld(access);
  try {
    return await work(access);
  } catch (error) {
    if (!wantsRefresh(error)) throw error;
  }
  const next = await sessionManager.renew(access.token);
  if (next.era !== access.era || !isWanted()) throw new AuthError('CLIENT_SUPERSEDED');
  sessionManager.assertHeld(next);
  return work(next);
}

export function wantsRefresh(error: unknown): boolean {
  return error instanceof AuthError && ownReactionTo(error.reaction.type) === 'refresh';
}

export interface CallDeps {
  readonly platform: Pick<Platform, 'randomUUID'>;
  readonly exchange: Exchange;
  readonly sessionManager: SessionManager;
  readonly deviceId: DeviceId;
}

export function createCall({ platform, exchange, sessionManager, deviceId }: CallDeps): Call {
  return async <N extends OperationName>(
    operation: Operation<N>,
    { params, body, isWanted, idempotencyKey }: CallInput = {},
  ): Promise<Data<N>> => {
    const takes = operation[3];
    const outgoing = {
      params,
      body: takes & takesDeviceId ? { ...body, device_id: await deviceId() } : body,
      idempotencyKey: takes & takesIdempotencyKey ? (idempotencyKey ?? platform.randomUUID()) : undefined,
    };
    const send = (access?: Access) => exchange<Data<N>>(operation, { ...outgoing, accessToken: access?.token });
    const work = () => (takes & takesToken ? withAccess(sessionManager, send, isWanted) : send());
    try {
      return await work();
    } catch (error) {
      // Because the key is the same, the service does the work only once.
      if (outgoing.idempotencyKey && isLost(error)) return work();
      throw error;
    }
  };
}
