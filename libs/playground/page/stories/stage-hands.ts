import { codeIn, type Mailbox } from '../mailbox/mailbox.ts';
import type { Phone } from '../phone/phone.ts';
import { readingTimeIn, sleep } from './director.ts';
import type { Stage } from './stage.ts';

const shortPauseMs = 500;
/** Waits for a moment in which a change can be seen, or shorter if captions are. */
export const pause = () => sleep(Math.min(shortPauseMs, readingTimeIn(location.search)));

/**
 * Limit for the time between the end of a gateway and a stream to the new one, in milliseconds. It is long because the
 * client's pauses grow (docs/push.md).
 */
export const outageMs = 60_000;

/**
 * Waits until the phone shows the expected state. After `maxMs` it gives up, because the story has taken another
 * course.
 */
export async function until(isThere: () => boolean, maxMs = 20_000): Promise<void> {
  for (let waited = 0; !isThere(); waited += 100) {
    if (waited > maxMs) throw new Error('the story has gone another way');
    await sleep(100);
  }
}

export const isIn = (phone: Phone) => phone.view.read().state.status === 'signed_in';
export const untilOut = (phone: Phone) => until(() => !isIn(phone));
export const untilStreamOpen = (phone: Phone, maxMs?: number) => until(() => phone.view.read().isStreamOpen, maxMs);
const groupOf = (phone: Phone) => phone.view.read().group?.home_group_id;

export async function ensureIn(phone: Phone): Promise<void> {
  if (isIn(phone)) return;
  if (phone.view.read().hasAccount) {
    await phone.show('log_in');
  } else {
    await phone.show('register');
    await phone.register();
  }
  await logInWhole(phone);
  await pause();
}

/** Logs in, with the second factor if it is on. */
export async function logInWhole(phone: Phone): Promise<void> {
  await phone.logIn();
  if (phone.view.read().isAwaitingFactor) await enterCode(phone);
  await untilStreamOpen(phone);
}

async function enterCode(phone: Phone): Promise<void> {
  await phone.takeCode();
  await phone.confirmCode();
}

export async function removePasskeys(phone: Phone): Promise<void> {
  await phone.show('security');
  for (const { passkey_id } of phone.view.read().passkeys) await phone.removePasskey(passkey_id);
}

export async function removeIdentities(phone: Phone): Promise<void> {
  await phone.show('security');
  for (const { identity_id } of phone.view.read().identities) await phone.removeIdentity(identity_id);
}

/** Lets the phone continue with the provider, on whose page the user gives the email address. */
export async function continueAs(phone: Phone, email: string): Promise<void> {
  await phone.show('log_in');
  const form = () => document.querySelector<HTMLIFrameElement>(`.${phone.owner} iframe`)?.contentDocument?.forms[0];
  const done = phone.continueWith();
  await until(() => form() !== undefined);
  await pause();
  const field = form()?.querySelector<HTMLInputElement>('[name=email]');
  if (field) field.value = email;
  form()?.requestSubmit();
  await done;
}

/** Lets somebody use Ben's phone with Anna's email address and password, and gives Ben his phone back afterwards. */
export async function borrow({ anna, ben }: Stage, use: () => Promise<void>): Promise<void> {
  if (isIn(ben)) await ben.logOut();
  const { email, password } = ben.view.read();
  const own = anna.view.read();
  await ben.show('log_in');
  try {
    ben.type({ email: own.email, password: own.password });
    await use();
  } finally {
    ben.type({ email, password });
  }
}

/** Prepares Ben: he is logged in, has an invite from Anna, and is in a household of his own. */
export async function prepareJoin({ anna, ben }: Stage): Promise<void> {
  await ensureIn(anna);
  await ensureIn(ben);
  await ben.show('home');
  await anna.show('home');
  if (groupOf(ben) === groupOf(anna)) await ben.client.group.leave();
}

export async function handInvite({ anna, ben }: Stage): Promise<void> {
  await anna.createInvite();
  ben.type({ inviteToken: anna.view.read().invite ?? '' });
}

/** Refreshes the phone's tokens by making them expire and sending a request. */
export async function refreshOnce(phone: Phone): Promise<void> {
  phone.skipTenMinutes();
  await phone.show('devices');
}

/** Switches the second factor on. */
export async function switchOn(phone: Phone): Promise<void> {
  await phone.addAuthenticator();
  await enterCode(phone);
}

/** Lets the phone ask for a code by mail, and returns the code. */
export async function mailedCode(mailbox: Mailbox, phone: Phone, ask: () => Promise<void>): Promise<string> {
  const { email } = phone.view.read();
  const codes = () => mailbox.mails.read().flatMap((mail) => (mail.to === email ? (codeIn(mail) ?? []) : []));
  const before = codes().length;
  await ask();
  await until(() => codes().length > before);
  return codes()[0] ?? '';
}
