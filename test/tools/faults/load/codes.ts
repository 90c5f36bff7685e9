import { requestTo } from '../../../support/api/api-driver.ts';
import { type App, callUntilAnswered, type Errand } from './app.ts';
import type { Reply } from './app-request.ts';
import { heldBy } from './credentials.ts';
import { pick } from './sessions.ts';

/** Milliseconds after which an app no longer tries a code. Codes live for ten minutes. */
const patienceMs = 500_000;

/** Handles the answer to a request for a code. */
export function takeChallenge(
  { world, person }: App,
  code: Pick<Errand, 'purpose' | 'email' | 'wasUnsure'>,
  reply: Reply,
): void {
  if (reply.status !== 202) {
    world.history.violate('a code was refused', { person: person.id, purpose: code.purpose, ...pick(reply) });
    return;
  }
  person.errand = { ...code, challengeId: String(reply.data.challenge_id), askedAt: world.history.now() };
}

/** Requests a code to the account's email address, without a session. */
export async function askForCode(app: App, purpose: 'password_reset' | 'account_deletion'): Promise<void> {
  const { person, device } = app;
  const { email } = heldBy(person);
  const asking = {
    password_reset: requestTo('requestPasswordReset', { email, ...{ device_id: device.deviceId } }),
    account_deletion: requestTo('requestDeletion', { email }),
  };
  const request = () => asking[purpose];
  const { reply, wasUnsure } = await callUntilAnswered(app, { kind: `code, ${purpose}`, sort: 'write', request });
  if (reply !== undefined) takeChallenge(app, { purpose, email, wasUnsure }, reply);
}

/** Returns the code that the user waits for, if it has arrived. After `patienceMs` the user no longer waits. */
export function arrivedCode({ world, person }: App): string | undefined {
  const { errand } = person;
  if (errand === undefined) return;
  if (world.history.now() - errand.askedAt > patienceMs) {
    person.errand = undefined;
    return;
  }
  const mail = world.mailbox.codeOf(errand.challengeId);
  if (mail !== undefined && mail.email !== errand.email) {
    world.history.violate('a code went to another email address', { person: person.id, errand, to: mail.email });
  }
  if (mail === undefined) return;
  // Every other user reads the code in a mail, and the others take it from the webhook.
  return person.id % 2 === 0 || world.mailbox.wasMailed(mail.email, mail.code) ? mail.code : undefined;
}

/**
 * Judges the refusal of a code. Returns true if an earlier attempt may have taken effect. Each attempt uses up a try,
 * so even a right code can be refused in the end.
 */
export function isDoubtful({ world, person }: App, errand: Errand, wasUnsure: boolean, reply: Reply): boolean {
  const isDead = reply.status === 403 && reply.code === 'ERR-CODE-INVALID';
  if (!isDead || !(wasUnsure || errand.wasUnsure)) {
    world.history.violate('a right code was refused', { person: person.id, errand, ...pick(reply) });
  }
  return wasUnsure;
}
