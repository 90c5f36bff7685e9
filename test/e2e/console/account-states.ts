import { randomUUID } from 'node:crypto';
import { logIn, newSession, password } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { makeResendDue, requestReset } from '../../support/api/codes.ts';
import { refresh } from '../../support/api/groups.ts';
import { orderRemoval, switchOn } from '../../support/api/second-factor.ts';
import { newNotification } from '../../support/worker/worker-events.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';
import type { StaffPages } from './staff-pages.ts';

/** Registers, and logs in on a phone. */
export const newPhone = (on: StaffPages) =>
  newSession(on, { device_id: randomUUID(), device_name: 'Phone', platform: 'ios' });
export type Phone = Awaited<ReturnType<typeof newPhone>>;

/** Brings an account into a state. It may return what an action in that state is about. */
export type State = (phone: Phone, on: StaffPages) => Promise<unknown>;

/** Logs in on a second device. */
export const withTablet = ({ email }: Phone, on: StaffPages) => logIn(on, email, { device_name: 'Tablet' });

/** Logs in from a network of its own, and returns the status. */
export async function loginFrom(on: StaffPages, host: number, { email }: Phone, given = password): Promise<number> {
  return (await on.logIn({ email, password: given }, { 'X-Forwarded-For': `198.51.100.${host}` })).status;
}

/** Counts the mails to the account. */
export const mailsTo = (on: StaffPages, { email }: Phone) => on.sink.mails().filter(({ to }) => to === email).length;

const change = (on: StaffPages, { user_id: _id }: Phone, fields: object) =>
  on.collections.users.updateOne({ _id }, { $set: fields });

export const disabled: State = (phone, on) => change(on, phone, { disabled_at: new Date(), disabled_by: 'Olga' });
export const withoutPassword: State = (phone, on) => change(on, phone, { is_password_void: true });
export const leaving: State = (by, on) => on.scheduleDeletion({ current_password: password }, bearer(by));

export const lockedOut: State = async (phone, on) => {
  for (const host of [1, 2]) await loginFrom(on, host, phone, 'wrong password');
};

/** A code has arrived, and may be sent again. */
export const withCode: State = async (phone, on) => {
  await makeResendDue(on, await requestReset(on, phone.email));
  await eventually('the code arrives', () => mailsTo(on, phone) === 1);
};

/** The code of before may not be sent again. */
export const outOfMails: State = async (phone, on) => {
  await requestReset(on, phone.email);
  await on.collections.challenges.updateOne({ user_id: phone.user_id }, { $set: { resends_left: 0 } });
};

export const losingFactor: State = async (phone, on) => {
  await switchOn(on, phone);
  await orderRemoval(on, phone.email);
};

export const endedByTablet: State = async (phone, on) =>
  on.revokeSession({ session_id: phone.session_id }, bearer(await withTablet(phone, on)));

export const withStolenToken: State = async (phone, on) => {
  await refresh(on, await refresh(on, phone));
  await on.refreshTokens({ refresh_token: phone.refresh_token });
};

export const disabledByProvider: State = (phone, on) => {
  const [at, sub] = [new Date(), 'the person'];
  const identity = { id: phone.user_id, provider: 'apple', sub, created_at: at, disabled_at: at, relay_off_at: at };
  return change(on, phone, { identities: [identity] });
};

/** Everything at once that holds an account back. Its sessions are left. */
export const heldBack: State = async (phone, on) => {
  await losingFactor(phone, on);
  await disabled(phone, on);
  await change(on, phone, { deletes_at: new Date(Date.now() + 86_400_000) });
};

/** The subscriber `billing` has got the event of the registration, whose id it returns. */
export const registeredAtBilling: State = async ({ user_id }, on) => {
  const { id } = await on.billing.waitFor(user_id);
  await eventually('it is delivered', async () => (await on.stores.outbox.find(id))?.state === 'delivered');
  return id;
};

/** The mail server has refused a notification, whose id it returns. No other subscriber gets it for now. */
export const withDeadLetter = async ({ user_id }: Phone, on: StaffPages): Promise<string> => {
  const event = newNotification({ user_id });
  const at = new Date();
  await on.collections.outbox.insertOne({
    ...{ _id: event.id, topic: event.type, event, state: 'pending', created_at: at, attempts: 0, deliveries: {} },
    locked_until: new Date(at.getTime() + 600_000),
  });
  const attempt = { subscriber: 'mail', at, outcome: 'given_up', error: 'answered 503' } as const;
  await on.stores.deadLetters.add({ event, attempt, attempts: 3, since: at, subscribers: ['mail', 'billing'] });
  return event.id;
};
