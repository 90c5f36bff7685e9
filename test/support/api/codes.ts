import { join } from 'node:path';
import { codeEmail } from '@auth-account/stores/challenges';
import { createEmailChangeTokens, createEmailCodes, createRemovalStopTokens, loadKeyFile } from '@auth-account/tokens';
import type { Answer } from '../http-client.ts';
import { testEnvironment } from '../test-environment.ts';
import { password } from './accounts.ts';
import { type ApiDriver, bearer, type Caller, dataOf } from './api-driver.ts';
import type { GroupApi } from './groups.ts';
import type { TestApi } from './test-api.ts';

export const serverKeys = () => loadKeyFile(join(testEnvironment().keysDir, 'server-keys.json'));

/** Returns the code of a challenge, derived from the key file and the documents as the worker derives it. */
export async function codeOf({ collections }: Pick<TestApi, 'collections'>, challengeId: string): Promise<string> {
  const keys = await serverKeys();
  const challenge = await collections.challenges.findOne({ _id: challengeId });
  if (challenge === null) throw new Error(`there is no challenge ${challengeId}`);
  const { kid, purpose, user_id: userId } = challenge;
  const user = await collections.users.findOne({ _id: userId });
  const emailKey = (user && codeEmail(user, purpose)?.emailKey) ?? 'nobody';
  return createEmailCodes(keys).codeOf({ kid, challengeId, purpose, userId, emailKey });
}

/** Returns a code that is not the challenge's. */
export async function wrongCodeOf(on: Pick<TestApi, 'collections'>, challengeId: string): Promise<string> {
  const right = Number(await codeOf(on, challengeId));
  return String((right + 1 + Math.floor(Math.random() * 99_999_998)) % 1e8).padStart(8, '0');
}

/** Asks for a code to reset the password. Throws if the answer is not 202. */
export async function requestReset(on: ApiDriver, email: string, fields: object = {}): Promise<string> {
  return (await dataOf(on.requestPasswordReset({ email, ...fields }), 202)).challenge_id;
}

/** Asks for a code to delete the account. Throws if the answer is not 202. */
export async function requestDeletion(on: ApiDriver, email: string): Promise<string> {
  return (await dataOf(on.requestDeletion({ email }), 202)).challenge_id;
}

/** Confirms a reset, with the right code unless `fields` has another code. */
export async function confirmReset(on: GroupApi, challenge_id: string, fields: object = {}): Promise<Answer> {
  const code = await codeOf(on, challenge_id);
  return on.confirmPasswordReset({ challenge_id, code, new_password: 'three wrong staples', ...fields });
}

/** Asks for a code to log in. Throws if the answer is not 202. */
export async function requestLoginCode(on: ApiDriver, email: string, fields: object = {}): Promise<string> {
  return (await dataOf(on.requestLoginCode({ email, ...fields }), 202)).challenge_id;
}

/** Logs in by a code, with the right one unless `fields` has another. */
export async function logInByCode(
  on: GroupApi,
  challenge_id: string,
  fields: object = {},
  headers: Record<string, string> = {},
): Promise<Answer> {
  const code = await codeOf(on, challenge_id);
  return on.logInByCode({ challenge_id, code, ...fields }, headers);
}

/** Makes the resend of a challenge due now. */
export async function makeResendDue({ collections }: Pick<TestApi, 'collections'>, challengeId: string): Promise<void> {
  await collections.challenges.updateOne({ _id: challengeId }, { $set: { resend_at: new Date(0) } });
}

/** Makes a challenge expire. */
export async function expire({ collections }: Pick<TestApi, 'collections'>, challengeId: string): Promise<void> {
  await collections.challenges.updateOne({ _id: challengeId }, { $set: { expires_at: new Date(0) } });
}

/** Asks for a code to verify the caller's email address. Throws if the answer is not 202. */
export async function requestVerification(on: ApiDriver, caller: Caller): Promise<string> {
  return (await dataOf(on.requestEmailVerification(bearer(caller)), 202)).challenge_id;
}

/** Asks for a code to change the caller's email address. Throws if the answer is not 202. */
export async function requestChange(on: ApiDriver, caller: Caller, new_email: string): Promise<string> {
  const body = { current_password: password, new_email };
  return (await dataOf(on.requestEmailChange(body, bearer(caller)), 202)).challenge_id;
}

/** Confirms a change of the email address, with the right code unless another code is given. */
export async function confirmChange(
  on: GroupApi,
  caller: Caller,
  challenge_id: string,
  code?: string,
): Promise<Answer> {
  const body = { challenge_id, code: code ?? (await codeOf(on, challenge_id)) };
  return on.confirmEmailChange(body, bearer(caller));
}

/** Changes the caller's email address. Throws if the answer is not 200. */
export async function changeEmail(on: GroupApi, caller: Caller, new_email: string): Promise<void> {
  await dataOf(confirmChange(on, caller, await requestChange(on, caller, new_email)));
}

/** Returns the token that undoes the account's newest change of email address, derived as the worker derives it. */
export async function undoTokenOf({ collections }: Pick<TestApi, 'collections'>, userId: string): Promise<string> {
  const rows = await collections.outbox
    .find({ 'event.subject': userId, topic: 'service.auth.events.notice' })
    .sort({ _id: -1 })
    .toArray();
  const changes = rows.flatMap(({ event }) => ('email_change_id' in event.data ? [event.data.email_change_id] : []));
  return createEmailChangeTokens(await serverKeys()).issue(String(changes[0]));
}

/** Returns the token that stops the removal of the account's second factor, derived as the worker derives it. */
export async function stopTokenOf({ collections }: Pick<TestApi, 'collections'>, userId: string): Promise<string> {
  const removal = (await collections.users.findOne({ _id: userId }))?.totp?.removal;
  if (removal === undefined) throw new Error('no removal is ordered');
  return createRemovalStopTokens(await serverKeys()).issue(removal.id);
}
