import type { Route } from '@auth-account/contracts';
import { isAppError } from '@auth-account/errors';
import type { Fence } from '@auth-account/stores';
import type { RequestContext } from './request-context.ts';

/**
 * Runs the work of a request, and returns its result or throws its error once that is final. Throws the errors of
 * {@link Fence} instead if it does not become final.
 */
export type Confirm = <T>(work: (origin: RequestContext) => Promise<T>, context: RequestContext) => Promise<T>;

/**
 * Answers all operations of the route. It is the only place that knows which answers are final: a client acts on them
 * for good, so no fail-over of MongoDB may undo what they say. A success is final, and so is each refusal because of
 * stored state. The route's `finality` says how they become it.
 */
export function createConfirm(
  { method, finality = method === 'get' ? 'none' : 'commit' }: Route,
  fence: Fence,
): Confirm {
  if (finality === 'none' || finality === 'itself') return (work, context) => work(context);
  return async (work, context) => {
    const passFence = fence.begin();
    let isCommitted = false;
    const onCommitted = () => {
      isCommitted = finality === 'commit';
    };
    try {
      const result = await work({ ...context, onCommitted });
      if (!isCommitted) await passFence();
      return result;
    } catch (error) {
      if (isFinal(error)) await passFence();
      throw error;
    }
  };
}

/**
 * Statuses of refusals because of stored state. After a 401 an app refreshes, and learns from the answer to that whether
 * its session has ended.
 */
const finalStatuses: ReadonlySet<number> = new Set([400, 403, 404, 409, 410]);

/** Returns true for a refusal because of stored state. The operations that are switched off have none. */
function isFinal(error: unknown): boolean {
  return isAppError(error) && error.code !== 'ERR-ROUTE-NOT-FOUND' && finalStatuses.has(error.status);
}
