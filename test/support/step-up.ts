import { type Account, type ApiClient, password, type TokenPair } from './accounts.ts';
import { codeOf } from './codes.ts';
import type { Answer } from './http-client.ts';
import type { TestApi } from './test-api.ts';

type Caller = Pick<TokenPair, 'access_token'>;

const bearer = ({ access_token }: Caller) => ({ Authorization: `Bearer ${access_token}` });

/** Asks for a step-up, and returns the whole answer. */
export function askStepUp(on: ApiClient, caller: Caller, purpose: string): Promise<Answer> {
  return on.post('/api/v1/account/step-up/challenge', { purpose }, bearer(caller));
}

/** Asks for a step-up, and returns its challenge. Throws if the answer is not 200. */
export async function challengeStepUp(on: ApiClient, caller: Caller, purpose: string): Promise<string> {
  const answer = await askStepUp(on, caller, purpose);
  if (answer.status !== 200) throw new Error(`step-up/challenge answered ${answer.status}: ${answer.text}`);
  return answer.json.data.challenge_id;
}

/** Steps up by the password, unless `fields` has another proof. */
export async function confirmStepUp(on: ApiClient, caller: Caller, challenge_id: string, fields = {}): Promise<Answer> {
  const body = { challenge_id, method: 'password', password, ...fields };
  return on.post('/api/v1/account/step-up', body, bearer(caller));
}

/** Returns a step-up token by the password. Throws if it gets none. */
export async function stepUp(on: ApiClient, caller: Caller, purpose: string): Promise<string> {
  const answer = await confirmStepUp(on, caller, await challengeStepUp(on, caller, purpose));
  if (answer.status !== 200) throw new Error(`step-up answered ${answer.status}: ${answer.text}`);
  return answer.json.data.step_up_token;
}

/** Steps up by a code that is mailed to an account without another proof, and returns the answer's data. */
export async function stepUpByMail(
  on: Pick<TestApi, 'post' | 'collections'>,
  caller: Caller & Pick<Account, 'user_id'>,
  purpose: string,
) {
  const challenge_id = await challengeStepUp(on, caller, purpose);
  const newest = { sort: { created_at: -1 } } as const;
  const sent = await on.collections.challenges.findOne({ user_id: caller.user_id, purpose: 'step_up' }, newest);
  const code = await codeOf(on, String(sent?._id));
  return (await confirmStepUp(on, caller, challenge_id, { method: 'email_code', code })).json.data;
}
