import { requestTo } from '../../../support/api/api-driver.ts';
import { type App, callUntilAnswered, type Errand, type Person } from './app.ts';
import { isDoubtful } from './codes.ts';
import { adopt, beginChange, doubt, heldBy } from './credentials.ts';
import type { Credentials } from './ledger.ts';
import { callAuthorized, doubtSessions, endSessions, pick, sendWhileOthersRefresh } from './sessions.ts';

function withNewPassword(person: Person): Credentials {
  const { email } = heldBy(person);
  return { email, password: `password ${person.account?.changes.length} of ${person.id}` };
}

/** Changes the password, which ends the user's other sessions. */
export async function changePassword(app: App): Promise<void> {
  const { world, person, device } = app;
  const to = withNewPassword(person);
  const body = { current_password: heldBy(person).password, new_password: to.password };
  const changes = [beginChange(person, 'changed')];
  doubtSessions(app, device);
  const request = () => requestTo('changePassword', body);
  const call = { kind: 'password', sort: 'write', request } as const;
  const answered = await sendWhileOthersRefresh(app, () => callAuthorized(app, call));
  if (answered?.reply.status === 200) {
    adopt(person, { to, changes });
    endSessions(app, device);
    return;
  }
  doubt(person, { to, changes });
  // The old password is wrong if an earlier attempt has taken effect.
  const isRight = answered === undefined || (answered.reply.status === 403 && answered.wasUnsure);
  if (!isRight) {
    world.history.violate('a change of password was refused', { person: person.id, ...pick(answered.reply) });
  }
}

/** Resets the password with a code, which ends all sessions. */
export async function resetPassword(app: App, errand: Errand, code: string): Promise<void> {
  const { person } = app;
  person.errand = undefined;
  const to = withNewPassword(person);
  const body = { challenge_id: errand.challengeId, code, new_password: to.password };
  const changes = [beginChange(person, 'reset')];
  doubtSessions(app);
  const request = () => requestTo('confirmPasswordReset', body);
  const call = { kind: 'reset', sort: 'write', request } as const;
  const { reply, wasUnsure } = await sendWhileOthersRefresh(app, () => callUntilAnswered(app, call));
  if (reply?.status === 200) {
    adopt(person, { to, changes });
    endSessions(app);
  } else if (reply === undefined || isDoubtful(app, errand, wasUnsure, reply)) doubt(person, { to, changes });
  else for (const change of changes) change.outcome = 'none';
}
