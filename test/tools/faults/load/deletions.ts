import type { App, Errand } from './app.ts';
import { type Answered, allowing, callOf, callUntilAnswered, type Judge, violate } from './app-request.ts';
import { judgeCode } from './credential-changes.ts';
import { beginChange, heldBy, isDue } from './credentials.ts';
import { callAuthorized, doubtSessions, endSessions, logIn } from './sessions.ts';

/** Share of users who restore their account within the grace period. */
const restored = 0.7;
/** Share of the other users who check whether their account is erased. */
const curious = 0.3;

/** Orders the deletion, which ends all sessions. */
async function order(app: App, send: () => Promise<Answered | undefined>, isDoubtful: Judge): Promise<void> {
  const { person } = app;
  const change = beginChange(person, 'deletion_scheduled');
  doubtSessions(app);
  const { reply, wasUnsure = true } = (await send()) ?? {};
  if (reply?.status === 202) {
    change.outcome = 'done';
    person.deletion = { deletesAt: Date.parse(String(reply.data.deletes_at)) };
    endSessions(app);
    // If there is no answer, or the session is over, a login shows whether the account is to be deleted.
  } else if (reply === undefined || isDoubtful(reply, wasUnsure)) person.deletion = { deletesAt: undefined };
  else change.outcome = 'none';
}

/** Orders the deletion of the account with the password. */
export function orderDeletion(app: App): Promise<void> {
  const call = callOf('deletion', 'scheduleDeletion', { current_password: heldBy(app.person).password });
  return order(app, () => callAuthorized(app, call), allowing(undefined, app, 'a deletion was refused'));
}

/** Orders the deletion with a code. */
export function confirmDeletion(app: App, errand: Errand, code: string): Promise<void> {
  app.person.errand = undefined;
  const call = callOf('deletion, code', 'confirmDeletion', { challenge_id: errand.challengeId, code });
  return order(app, () => callUntilAnswered(app, call), judgeCode(app, errand));
}

/** Acts as a user whose account is to be deleted: finds out when, restores the account, or leaves. */
export async function faceDeletion(app: App): Promise<void> {
  const { person } = app;
  const { deletion } = person;
  if (deletion === undefined) return;
  if (deletion.deletesAt === undefined) await logIn(app);
  else if (!isDue(deletion) && person.random() < restored) await restore(app);
  else {
    if (person.random() < curious) await logIn(app);
    person.stepsLeft = 0;
  }
}

/** Cancels the deletion with the password. */
export async function restore(app: App): Promise<void> {
  const { person, device } = app;
  const change = beginChange(person, 'deletion_cancelled');
  const input = { ...heldBy(person), device_id: device.deviceId };
  const { reply } = await callUntilAnswered(app, callOf('restore', 'restoreAccount', input));
  if (reply?.status === 200) {
    change.outcome = 'done';
    person.deletion = undefined;
    return;
  }
  person.deletion = { deletesAt: undefined };
  if (reply !== undefined) violate(app, 'a restore was refused', reply);
}
