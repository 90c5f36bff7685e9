import { requestTo } from '../../../support/api/api-driver.ts';
import { type App, callUntilAnswered, type Errand } from './app.ts';
import type { Reply } from './app-request.ts';
import { isDoubtful } from './codes.ts';
import { beginChange, heldBy, isDue } from './credentials.ts';
import type { ChangeRecord } from './ledger.ts';
import { callAuthorized, doubtSessions, endSessions, logIn, pick } from './sessions.ts';

/** Share of users who restore their account within the grace period. */
const restored = 0.7;
/** Share of the other users who check whether their account is erased. */
const curious = 0.3;

function takeOrder(app: App, change: ChangeRecord, { data }: Reply): void {
  change.outcome = 'done';
  app.person.deletion = { deletesAt: Date.parse(String(data.deletes_at)) };
  endSessions(app);
}

/** Orders the deletion of the account with the password, which ends all sessions. */
export async function orderDeletion(app: App): Promise<void> {
  const { world, person } = app;
  const change = beginChange(person, 'deletion_scheduled');
  const body = { current_password: heldBy(person).password };
  doubtSessions(app);
  const request = () => requestTo('scheduleDeletion', body);
  const answered = await callAuthorized(app, { kind: 'deletion', sort: 'write', request });
  if (answered?.reply.status === 202) takeOrder(app, change, answered.reply);
  // There is no answer, or the session is over. A login shows whether the account is to be deleted.
  else person.deletion = { deletesAt: undefined };
  if (answered !== undefined && answered.reply.status !== 202) {
    world.history.violate('a deletion was refused', { person: person.id, ...pick(answered.reply) });
  }
}

/** Orders the deletion with a code. */
export async function confirmDeletion(app: App, errand: Errand, code: string): Promise<void> {
  const { person } = app;
  person.errand = undefined;
  const change = beginChange(person, 'deletion_scheduled');
  const body = { challenge_id: errand.challengeId, code };
  doubtSessions(app);
  const request = () => requestTo('confirmDeletion', body);
  const { reply, wasUnsure } = await callUntilAnswered(app, { kind: 'deletion, code', sort: 'write', request });
  if (reply?.status === 202) takeOrder(app, change, reply);
  else if (reply === undefined || isDoubtful(app, errand, wasUnsure, reply)) person.deletion = { deletesAt: undefined };
  else change.outcome = 'none';
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
  const { world, person, device } = app;
  const change = beginChange(person, 'deletion_cancelled');
  const body = { ...heldBy(person), device_id: device.deviceId };
  const request = () => requestTo('restoreAccount', body);
  const { reply } = await callUntilAnswered(app, { kind: 'restore', sort: 'write', request });
  if (reply?.status === 200) {
    change.outcome = 'done';
    person.deletion = undefined;
  } else person.deletion = { deletesAt: undefined };
  if (reply !== undefined && reply.status !== 200) {
    world.history.violate('a restore was refused', { person: person.id, ...pick(reply) });
  }
}
