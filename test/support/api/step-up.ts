import type { Answer } from '../http-client.ts';
import { type Account, password } from './accounts.ts';
import { type ApiDriver, bearer, type Caller, dataOf } from './api-driver.ts';
import { codeOf } from './codes.ts';
import type { GroupApi } from './groups.ts';

/** Asks for a step-up, and returns the whole answer. */
export function askStepUp(on: ApiDriver, caller: Caller, purpose: string): Promise<Answer> {
  return on.createStepUpChallenge({ purpose }, bearer(caller));
}

/** Asks for a step-up, and returns its challenge. Throws if the answer is not 200. */
export async function challengeStepUp(on: ApiDriver, caller: Caller, purpose: string): Promise<string> {
  return (await dataOf(askStepUp(on, caller, purpose))).challenge_id;
}

/** Steps up by the password, unless `fields` has another proof. */
export function confirmStepUp(on: ApiDriver, caller: Caller, challenge_id: string, fields = {}): Promise<Answer> {
  return on.confirmStepUp({ challenge_id, method: 'password', password, ...fields }, bearer(caller));
}

/** Returns a step-up token by the password. Throws if it gets none. */
export async function stepUp(on: ApiDriver, caller: Caller, purpose: string): Promise<string> {
  const challenge_id = await challengeStepUp(on, caller, purpose);
  return (await dataOf(confirmStepUp(on, caller, challenge_id))).step_up_token;
}

/** Steps up by a code that is mailed to an account without another proof, and returns the answer's data. */
export async function stepUpByMail(on: GroupApi, caller: Caller & Pick<Account, 'user_id'>, purpose: string) {
  const challenge_id = await challengeStepUp(on, caller, purpose);
  const newest = { sort: { created_at: -1 } } as const;
  const sent = await on.collections.challenges.findOne({ user_id: caller.user_id, purpose: 'step_up' }, newest);
  const code = await codeOf(on, String(sent?._id));
  return (await confirmStepUp(on, caller, challenge_id, { method: 'email_code', code })).json.data;
}
