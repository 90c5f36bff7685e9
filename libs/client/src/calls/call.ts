import type { OperationTypes } from '../generated/operation-types.ts';
import type { OperationName, Operations } from '../generated/operations.ts';
import { AuthError } from '../http/auth-error.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Access } from '../session/access.ts';
import { ownReactionTo } from '../session/end-reason.ts';
import type { Keeper } from '../session/keeper.ts';

export type Data<N extends OperationName> = OperationTypes[N]['data'];
export type Body<N extends OperationName> = OperationTypes[N] extends { readonly body: infer B } ? B : never;

export interface CallInput {
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly idempotencyKey?: string;
  /** Is asked before each request: false if the work must not be done any more. */
  readonly isWanted?: () => boolean;
}

/** Calls an operation, with the access token if it wants one and with one transparent refresh. */
export type Call = <N extends OperationName>(name: N, input?: CallInput) => Promise<Data<N>>;

/**
 * Does the work with an access token, and once more with another one if the service refuses the first. Raises
 * `CLIENT_SUPERSEDED` if somebody else has logged in meanwhile, whose work it is not, or if it is not wanted any more.
 */
export async function withAccess<T>(
  keeper: Keeper,
  work: (access: Access) => Promise<T>,
  isWanted: () => boolean = () => true,
): Promise<T> {
  const access = await keeper.access();
  if (!isWanted()) throw new AuthError('CLIENT_SUPERSEDED');
  // The user may have logged out since it was handed out.
  keeper.assertHeld(access);
  try {
    return await work(access);
  } catch (error) {
    if (!wantsRefresh(error)) throw error;
  }
  const next = await keeper.renew(access.token);
  if (next.era !== access.era || !isWanted()) throw new AuthError('CLIENT_SUPERSEDED');
  keeper.assertHeld(next);
  return work(next);
}

export function wantsRefresh(error: unknown): boolean {
  return error instanceof AuthError && ownReactionTo(error.reaction.type) === 'refresh';
}

export function createCall(exchange: Exchange, keeper: Keeper, operations: Operations): Call {
  return async <N extends OperationName>(name: N, { isWanted, ...input }: CallInput = {}): Promise<Data<N>> => {
    const send = (access?: Access) =>
      exchange<Data<N>>(name, { ...input, ...(access && { accessToken: access.token }) });
    return operations[name]?.[2] === 1 ? withAccess(keeper, send, isWanted) : send();
  };
}
