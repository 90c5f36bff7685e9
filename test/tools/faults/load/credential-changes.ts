import { randomUUID } from 'node:crypto';
import type { App, Device, Errand } from './app.ts';
import { type Answered, allowing, callOf, callUntilAnswered, type Judge, type Reply, violate } from './app-request.ts';
import { beginChange, heldBy } from './credentials.ts';
import type { ChangeKind, ChangeRecord, Credentials } from './ledger.ts';
import { callAuthorized, doubtSessions, endSessions, sendWhileOthersRefresh } from './sessions.ts';

/** Milliseconds after which an app no longer tries a code. Codes live for ten minutes. */
const patienceMs = 500_000;

/** Handles the answer to a request for a code. */
function takeChallenge(
  app: App,
  code: Pick<Errand, 'purpose' | 'email' | 'wasUnsure'>,
  reply: Reply | undefined,
): void {
  const { world, person } = app;
  if (reply?.status === 202) {
    person.errand = { ...code, challengeId: String(reply.data.challenge_id), askedAt: world.history.now() };
  } else if (reply !== undefined) violate(app, 'a code was refused', reply, { purpose: code.purpose });
}

/** Requests a code to the account's email address, without a session. */
export async function askForCode(app: App, purpose: 'password_reset' | 'account_deletion'): Promise<void> {
  const { email } = heldBy(app.person);
  const kind = `code, ${purpose}`;
  const calls = {
    password_reset: callOf(kind, 'requestPasswordReset', { email, ...{ device_id: app.device.deviceId } }),
    account_deletion: callOf(kind, 'requestDeletion', { email }),
  };
  const { reply, wasUnsure } = await callUntilAnswered(app, calls[purpose]);
  takeChallenge(app, { purpose, email, wasUnsure }, reply);
}

/** Returns the code that the user waits for, if it has arrived. After `patienceMs` the user no longer waits. */
export function arrivedCode(app: App): string | undefined {
  const { world, person } = app;
  const { errand } = person;
  if (errand === undefined) return;
  if (world.history.now() - errand.askedAt > patienceMs) {
    person.errand = undefined;
    return;
  }
  const mail = world.mailbox.codeOf(errand.challengeId);
  if (mail !== undefined && mail.email !== errand.email) {
    violate(app, 'a code went to another email address', {}, { errand, to: mail.email });
  }
  if (mail === undefined) return;
  // Every other user reads the code in a mail, and the others take it from the webhook.
  return person.id % 2 === 0 || world.mailbox.wasMailed(mail.email, mail.code) ? mail.code : undefined;
}

/** Judges the refusal of a code. Each attempt uses up a try, so even a right code can be refused in the end. */
export function judgeCode(app: App, errand: Errand): Judge {
  return (reply, wasUnsure) => {
    const isDead = reply.status === 403 && reply.code === 'ERR-CODE-INVALID';
    if (!isDead || !(wasUnsure || errand.wasUnsure)) violate(app, 'a right code was refused', reply, { errand });
    return wasUnsure;
  };
}

/** Share of changes of the email address that are undone from the old one. */
const undone = 0.4;

interface Request {
  readonly kinds: readonly ChangeKind[];
  readonly to: Credentials;
  /** The device whose session goes on. The others end. */
  readonly spare?: Device;
  readonly send: () => Promise<Answered | undefined>;
  readonly isDoubtful: Judge;
}

/** Changes the credentials. Returns true if the answer says that this is done. */
async function change(app: App, { kinds, to, spare, send, isDoubtful }: Request): Promise<boolean> {
  const { person } = app;
  const changes = kinds.map((kind) => beginChange(person, kind));
  const settleAs = (outcome: ChangeRecord['outcome']) => {
    for (const each of changes) each.outcome = outcome;
  };
  doubtSessions(app, spare);
  const { reply, wasUnsure = true } = (await send()) ?? {};
  const before = heldBy(person);
  if (reply?.status === 200) {
    settleAs('done');
    // The earlier email address and password are unusable now.
    if (before.password !== undefined) person.account?.former.push(before);
    person.holds = [to];
    endSessions(app, spare);
    return true;
  }
  if (reply === undefined || isDoubtful(reply, wasUnsure)) {
    // The next login shows whether the change has taken effect.
    person.holds = [to, before];
    person.unsureChanges = changes;
  } else settleAs('none');
  return false;
}

function withNewPassword({ person }: App): Credentials & { readonly password: string } {
  const { email } = heldBy(person);
  return { email, password: `password ${person.account?.changes.length} of ${person.id}` };
}

/** Changes the password, which ends the user's other sessions. */
export async function changePassword(app: App): Promise<void> {
  const to = withNewPassword(app);
  const input = { current_password: heldBy(app.person).password, new_password: to.password };
  await change(app, {
    kinds: ['changed'],
    to,
    spare: app.device,
    send: () => sendWhileOthersRefresh(app, () => callAuthorized(app, callOf('password', 'changePassword', input))),
    // The old password is wrong if an earlier attempt has taken effect.
    isDoubtful: allowing(403, app, 'a change of password was refused'),
  });
}

/** Resets the password with a code, which ends all sessions. */
export async function resetPassword(app: App, errand: Errand, code: string): Promise<void> {
  app.person.errand = undefined;
  const to = withNewPassword(app);
  const input = { challenge_id: errand.challengeId, code, new_password: to.password };
  const call = callOf('reset', 'confirmPasswordReset', input);
  await change(app, {
    kinds: ['reset'],
    to,
    send: () => sendWhileOthersRefresh(app, () => callUntilAnswered(app, call)),
    isDoubtful: judgeCode(app, errand),
  });
}

/** Requests a code to a new email address. */
export async function askForEmail(app: App): Promise<void> {
  const { person } = app;
  const email = `Person-${person.id}-${randomUUID().slice(0, 8)}@Example.com`;
  const input = { current_password: heldBy(person).password, new_email: email };
  const answered = await callAuthorized(app, callOf('code, email_change', 'requestEmailChange', input));
  if (answered === undefined) return;
  takeChallenge(app, { purpose: 'email_change', email, wasUnsure: answered.wasUnsure }, answered.reply);
}

/** Changes the email address with the code from the new one, which ends the user's other sessions. */
export async function changeEmail(app: App, errand: Errand, code: string): Promise<void> {
  const { person } = app;
  person.errand = undefined;
  const { email: before, password } = heldBy(person);
  const input = { challenge_id: errand.challengeId, code };
  const isDone = await change(app, {
    kinds: ['email_changed'],
    to: { email: errand.email, password },
    spare: app.device,
    send: () => callAuthorized(app, callOf('email change', 'confirmEmailChange', input)),
    isDoubtful: judgeCode(app, errand),
  });
  if (isDone && person.random() < undone) person.wantedEmail = before;
}

/** Gives the account its former email address back, which ends all sessions and makes the password unusable. */
export async function undoEmail(app: App, email: string, undo_token: string): Promise<void> {
  app.person.wantedEmail = undefined;
  await change(app, {
    kinds: ['undone', 'email_undone'],
    to: { email, password: undefined },
    send: () => callUntilAnswered(app, callOf('undo', 'undoEmailChange', { undo_token })),
    isDoubtful: allowing(403, app, 'an undo was refused'),
  });
}
