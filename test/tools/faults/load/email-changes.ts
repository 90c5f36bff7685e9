import { randomUUID } from 'node:crypto';
import { requestTo } from '../../../support/api/api-driver.ts';
import { type App, callUntilAnswered, type Errand } from './app.ts';
import { isDoubtful, takeChallenge } from './codes.ts';
import { adopt, beginChange, doubt, heldBy } from './credentials.ts';
import { callAuthorized, doubtSessions, endSessions, pick } from './sessions.ts';

/** Share of changes that are undone from the old email address. */
const undone = 0.4;

/** Requests a code to a new email address. */
export async function askForEmail(app: App): Promise<void> {
  const { person } = app;
  const email = `Person-${person.id}-${randomUUID().slice(0, 8)}@Example.com`;
  const body = { current_password: heldBy(person).password, new_email: email };
  const request = () => requestTo('requestEmailChange', body);
  const answered = await callAuthorized(app, { kind: 'code, email_change', sort: 'write', request });
  if (answered === undefined) return;
  takeChallenge(app, { purpose: 'email_change', email, wasUnsure: answered.wasUnsure }, answered.reply);
}

/** Changes the email address with the code from the new one, which ends the user's other sessions. */
export async function changeEmail(app: App, errand: Errand, code: string): Promise<void> {
  const { person, device } = app;
  person.errand = undefined;
  const { email: before, password } = heldBy(person);
  const to = { email: errand.email, password };
  const body = { challenge_id: errand.challengeId, code };
  const changes = [beginChange(person, 'email_changed')];
  doubtSessions(app, device);
  const request = () => requestTo('confirmEmailChange', body);
  const answered = await callAuthorized(app, { kind: 'email change', sort: 'write', request });
  const { reply, wasUnsure = true } = answered ?? {};
  if (reply?.status === 200) {
    adopt(person, { to, changes });
    endSessions(app, device);
    if (person.random() < undone) person.wantedEmail = before;
  } else if (reply === undefined || isDoubtful(app, errand, wasUnsure, reply)) doubt(person, { to, changes });
  else for (const change of changes) change.outcome = 'none';
}

/** Gives the account its former email address back, which ends all sessions and makes the password unusable. */
export async function undoEmail(app: App, email: string, undo_token: string): Promise<void> {
  const { world, person } = app;
  person.wantedEmail = undefined;
  const to = { email, password: undefined };
  const changes = [beginChange(person, 'undone'), beginChange(person, 'email_undone')];
  doubtSessions(app);
  const body = { undo_token };
  const request = () => requestTo('undoEmailChange', body);
  const { reply, wasUnsure } = await callUntilAnswered(app, { kind: 'undo', sort: 'write', request });
  if (reply?.status === 200) {
    adopt(person, { to, changes });
    endSessions(app);
    return;
  }
  doubt(person, { to, changes });
  if (reply !== undefined && !(wasUnsure && reply.status === 403)) {
    world.history.violate('an undo was refused', { person: person.id, ...pick(reply) });
  }
}
