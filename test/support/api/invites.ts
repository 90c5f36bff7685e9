import type { Answer } from '../http-client.ts';
import { newEmail, password } from './accounts.ts';
import { type ApiDriver, bearer, type Caller, dataOf } from './api-driver.ts';

/**
 * Creates an invite into the group of the caller with these tokens, and returns the invite's token. Throws if the
 * answer is not 201.
 */
export async function newInvite(api: ApiDriver, caller: Caller, fields: object = {}): Promise<string> {
  return (await dataOf(api.createInvite(fields, bearer(caller)), 201)).invite_token;
}

/** Registers a new user by the invite, and returns the answer, whatever it is. */
export function joinBy(api: ApiDriver, invite_token: string, email = newEmail()): Promise<Answer> {
  return api.registerAccount({ email, password, space_creation_mode: 'JOIN_EXISTING', invite_token });
}
