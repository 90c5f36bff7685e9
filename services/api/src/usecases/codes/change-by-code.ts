import { hasSameCredentials } from '@auth-account/stores/credentials';
import { codeInvalid, type RightCode } from './check-code.ts';

/** Thrown by a change that finds the account changed since it was read. */
export class ChangedMeanwhile extends Error {}

/**
 * Makes the change that a code permits. If the address was proved since the account was read, checks the code again and
 * decides anew by the account as it is now. Raises the errors of both, and `ERR-CODE-INVALID` if a way in was changed.
 */
export async function changeByCode<T>(
  check: () => Promise<RightCode>,
  change: (code: RightCode) => Promise<T>,
  first?: RightCode,
): Promise<T> {
  const code = first ?? (await check());
  try {
    return await change(code);
  } catch (error) {
    if (!(error instanceof ChangedMeanwhile)) throw error;
  }
  const again = await check();
  const isProved = code.user.email_verified_at === undefined && again.user.email_verified_at !== undefined;
  if (!isProved || !hasSameCredentials(code.user, again.user)) throw codeInvalid();
  return change(again).catch((error: unknown) => {
    throw error instanceof ChangedMeanwhile ? codeInvalid() : error;
  });
}
