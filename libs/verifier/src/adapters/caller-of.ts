import type { VerifiedAccessToken } from '../access-token/index.ts';

const callers = new WeakMap<object, VerifiedAccessToken>();

/** Returns the claims of the request's token. Throws if no adapter has verified it. */
export function callerOf(request: object): VerifiedAccessToken {
  const caller = callers.get(request);
  if (caller === undefined) throw new Error('the request passed no adapter that verifies access tokens');
  return caller;
}

/** Remembers who sent the request, as long as the request object exists. */
export function rememberCaller(request: object, caller: VerifiedAccessToken): void {
  callers.set(request, caller);
}
