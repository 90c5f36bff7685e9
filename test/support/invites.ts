import { type ApiClient, newEmail, password, type TokenPair } from './accounts.ts';
import type { Answer } from './http-client.ts';

/**
 * Creates an invite into the group of the caller with these tokens, and returns the invite's token. Throws if the
 * answer is not 201.
 */
export async function newInvite(
  api: ApiClient,
  { access_token }: Pick<TokenPair, 'access_token'>,
  fields: object = {},
): Promise<string> {
  const answer = await api.post('/api/v1/invites', fields, { Authorization: `Bearer ${access_token}` });
  if (answer.status !== 201) throw new Error(`the invite answered ${answer.status}: ${answer.text}`);
  return answer.json.data.invite_token;
}

/** Registers a new user by the invite, and returns the answer, whatever it is. */
export function joinBy(api: ApiClient, invite_token: string, email = newEmail()): Promise<Answer> {
  const body = { email, password, space_creation_mode: 'JOIN_EXISTING', invite_token };
  return api.post('/api/v1/auth/register', body);
}
