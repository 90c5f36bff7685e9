import type { VerifiedAccessToken } from '@auth-account/tokens';
import type { Limits } from '../limits/limits.ts';
import type { RequestOrigin } from '../request/request-origin.ts';

type Write<A extends readonly unknown[], T> = (
  ...args: [...input: A, caller: VerifiedAccessToken, origin: RequestOrigin]
) => Promise<T>;

/**
 * Creates the function that puts a use case under the limit of a session's writes. It is for those that no other limit
 * keeps from being repeated: each writes what a recovery of the account has to write too.
 */
export function createLimitWrites({ write: count }: Pick<Limits, 'write'>) {
  return <A extends readonly unknown[], T>(write: Write<A, T>): Write<A, T> =>
    async (...args) => {
      const [{ sid }, origin] = args.slice(-2) as [VerifiedAccessToken, RequestOrigin];
      await count(sid, origin);
      return write(...args);
    };
}
