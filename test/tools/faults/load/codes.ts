import type { App, Errand } from './app.ts';
import { callOf, callUntilAnswered, type Judge, type Reply, violate } from './app-request.ts';
import { heldBy } from './credentials.ts';

/** Milliseconds after which an app no longer tries a code. Codes live for ten minutes. */
const patienceMs = 500_000;

/** Handles the answer to a request for a code. */
export function takeChallenge(
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
