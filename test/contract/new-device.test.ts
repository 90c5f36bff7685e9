import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { NewDevicePayload } from '@auth-account/contracts';
import { NotificationEvent } from '@auth-account/contracts/events';
import { findFreePort } from '@auth-account/local-stack';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Account, logIn, newEmail, newSession, password, type TokenPair } from '../support/api/accounts.ts';
import { bearer } from '../support/api/api-driver.ts';
import { changeEmail } from '../support/api/codes.ts';
import { matchesSchema } from '../support/api/matches-schema.ts';
import { startTestApi } from '../support/api/test-api.ts';
import { openStream } from '../support/gateway/push-client.ts';
import { startTestServices, type TestServices } from '../support/processes/test-services.ts';

let services: TestServices;
beforeAll(async () => {
  services = await startTestServices();
});
afterAll(() => services.close());

/** Opens the session's stream, and returns it after its `hello`. */
async function streamOf({ session_id, access_token }: TokenPair) {
  const stream = await openStream(services.gateway.base, { sessionId: session_id, token: access_token });
  expect(await stream.next()).toMatchObject({ type: 'hello', session_id });
  return stream;
}

const notificationsOf = async (userId: string) => {
  const rows = await services.api.collections.outbox.find({ 'event.subject': userId }).sort({ _id: 1 }).toArray();
  return rows.flatMap(({ event }) => (event.type === 'service.auth.events.notice' ? [event.data] : []));
};
const notificationOf = ({ session_id }: TokenPair, user_id: string) => ({
  ...{ user_id, purpose: 'new_device', locale: 'en', session_id },
});
const new_password = 'three wrong staples';
const changePassword = (owner: TokenPair) =>
  services.api.changePassword({ current_password: password, new_password }, bearer(owner));
const newDevice = () => ({ device_id: randomUUID() });

/** Repeats the work until its message arrives. Messages to streams are hints, so a slow machine may lose one. */
async function repeatUntil<T>(arrived: Promise<T>, work: () => Promise<void>): Promise<T> {
  for (;;) {
    const came = await Promise.race([arrived.then(() => true), sleep(15_000, false, { ref: false })]);
    if (came) return arrived;
    await work();
  }
}

/** Returns the sessions that messages of the stream are about, up to the first one that is wanted. */
async function readUntil(
  stream: Awaited<ReturnType<typeof openStream>>,
  isWanted: (sessionId: string) => boolean,
): Promise<string[]> {
  const seen: string[] = [];
  while (!seen.some(isWanted)) seen.push(String(Object((await stream.next()).payload).session_id));
  return seen;
}

const idOf = ({ session_id }: TokenPair) => session_id;

/** Registers an account; `fields` may hold a device id. */
async function register(fields: object): Promise<{ email: string; user_id: string }> {
  const email = newEmail();
  const body = { email, password, space_creation_mode: 'CREATE_NEW_HOME', ...fields };
  const { status, json } = await services.api.registerAccount(body);
  expect(status).toBe(201);
  return { email, user_id: json.data.user_id };
}

describe('a login on a device that the account has not used', () => {
  // guarantees: new-device-notice
  test('a login on an unknown device sends a notification and a message to the other push streams, whose apps can end it', async () => {
    const { api } = services;
    const phone = await newSession(api, newDevice());
    const tablet = await logIn(api, phone.email, newDevice());
    const streams = await Promise.all([phone, tablet].map(streamOf));
    // The message about the tablet is sent after the answer to its login, so it may reach the phone's new stream first.
    const isAboutTablet = ({ payload }: Record<string, unknown>) => Object(payload).session_id === tablet.session_id;
    const messages = Promise.all(
      streams.map(async (stream) => {
        const message = await stream.next();
        return isAboutTablet(message) ? stream.next() : message;
      }),
    );
    const unknownDevices: TokenPair[] = [];
    const logInUnknownDevice = async () => {
      unknownDevices.push(
        await logIn(api, phone.email, { ...newDevice(), device_name: 'Pixel 9', platform: 'android' }),
      );
    };
    await logInUnknownDevice();
    const [first] = await repeatUntil(messages, logInUnknownDevice);
    const about = first?.payload as TokenPair | undefined;
    const unknownDevice = unknownDevices.find(({ session_id }) => session_id === about?.session_id);
    if (unknownDevice === undefined) throw new Error('the message is about somebody else');
    const unknownDeviceStream = await streamOf(unknownDevice);
    for (const { payload, ...message } of await messages) {
      expect(message).toMatchObject({ type: 'message', topic: 'security.new_device' });
      const { session_id } = unknownDevice;
      const created_at = message.timestamp;
      expect(payload).toEqual({ session_id, device_name: 'Pixel 9', platform: 'android', created_at });
      expect(matchesSchema(NewDevicePayload, payload)).toBe(true);
    }
    const expected = [tablet, ...unknownDevices].map((session) => notificationOf(session, phone.user_id));
    expect(await notificationsOf(phone.user_id)).toEqual(expected);

    expect((await api.revokeSession({ session_id: unknownDevice.session_id }, bearer(phone))).status).toBe(200);
    expect(await unknownDeviceStream.closed).toEqual({ code: 4001, reason: 'SESSION_REVOKED' });
    expect(streams.map((stream) => stream.isOpen())).toEqual([true, true]);
    for (const stream of streams) stream.socket.terminate();
  });

  // guarantees: new-device-notice
  test('a login on an unknown device causes a notification also if the device’s first try opened no session', async () => {
    const { api } = services;
    const { email, user_id } = await newSession(api, newDevice());
    const device = newDevice();
    await api.collections.users.updateOne({ _id: user_id }, { $set: { disabled_at: new Date() } });
    await expect(logIn(api, email, device)).rejects.toThrow('403');
    await api.collections.users.updateOne({ _id: user_id }, { $unset: { disabled_at: true } });
    const session = await logIn(api, email, device);
    expect(await notificationsOf(user_id)).toEqual([notificationOf(session, user_id)]);
  });
});

describe('a restore on a device that the account has not used', () => {
  const restore = async (email: string, fields: object) =>
    expect((await services.api.restoreAccount({ email, password, ...fields })).status).toBe(200);

  // guarantees: restore-is-audited
  test('a restore on an unknown device causes a notification like a login, also if there was nothing to restore', async () => {
    const { api } = services;
    const device = newDevice();
    const phone = await newSession(api, device);
    const { email, user_id } = phone;
    const stream = await streamOf(phone);
    const unknownDevice = newDevice();
    await restore(email, device);
    expect(await notificationsOf(user_id)).toEqual([]);
    for (let i = 0; i < 2; i += 1) await restore(email, unknownDevice);
    const expected = { user_id, purpose: 'new_device', locale: 'en' };
    expect(await notificationsOf(user_id)).toEqual([expected]);
    const row = await api.collections.outbox.findOne({ 'event.subject': user_id, topic: /notice$/ });
    expect(matchesSchema(NotificationEvent, row?.event)).toBe(true);
    // From then on the account knows the device. Apps learn only of a new session, because they could end it.
    await logIn(api, email, unknownDevice);
    const others: TokenPair[] = [];
    const logInOther = async () => void others.push(await logIn(api, email, newDevice()));
    await logInOther();
    const isOther = (sessionId: string) => others.map(idOf).includes(sessionId);
    expect(await repeatUntil(readUntil(stream, isOther), logInOther)).toHaveLength(1);
    expect(await notificationsOf(user_id)).toEqual([
      expected,
      ...others.map((session) => notificationOf(session, user_id)),
    ]);
    stream.socket.terminate();
  });
});

describe('the notifications of new devices', () => {
  // guarantees: mails-per-mailbox
  test('an account gets ten notifications of unknown devices a day; of further logins only the push streams are notified', async () => {
    const { api } = services;
    const phone = await newSession(api, newDevice());
    const stream = await streamOf(phone);
    const opened: string[] = [];
    const logInOnce = async () => {
      const body = { email: phone.email, password, ...newDevice() };
      opened.push((await api.logIn(body)).json.data.session_id);
    };
    for (let i = 0; i < 8; i += 1) await logInOnce();
    await Promise.all(Array.from({ length: 6 }, logInOnce));
    for (let i = 0; i < 2; i += 1) await logInOnce();
    const noticed = (await notificationsOf(phone.user_id)).map((notification) => Object(notification).session_id);
    expect(noticed).toHaveLength(10);
    const isFurther = (sessionId: string) => opened.includes(sessionId) && !noticed.includes(sessionId);
    const received = await repeatUntil(readUntil(stream, isFurther), logInOnce);
    expect(opened).toEqual(expect.arrayContaining(received));
    expect(new Set(received).size).toBe(received.length);
    expect(await notificationsOf(phone.user_id)).toHaveLength(10);
    stream.socket.terminate();
  });

  test('notifications of unknown devices begin again when the oldest is a day old, however many logins found none left', async () => {
    const { api } = services;
    const { email, user_id } = await newSession(api, newDevice());
    const { users } = api.collections;
    const dayMs = 86_400_000;
    const ago = (ms: number) => new Date(Date.now() - ms);
    const rest = Array.from({ length: 9 }, () => ago(dayMs / 2));
    await users.updateOne({ _id: user_id }, { $set: { new_device_notices: [ago(dayMs - 3_600_000), ...rest] } });
    for (let i = 0; i < 2; i += 1) await logIn(api, email, newDevice());
    expect(await notificationsOf(user_id)).toEqual([]);
    await users.updateOne({ _id: user_id }, { $set: { 'new_device_notices.0': ago(dayMs) } });
    const session = await logIn(api, email, newDevice());
    await logIn(api, email, newDevice());
    expect(await notificationsOf(user_id)).toEqual([notificationOf(session, user_id)]);
    expect((await users.findOne({ _id: user_id }))?.new_device_notices).toHaveLength(10);
  });
});

// guarantees: new-device-notice
test('a login while Redis is away succeeds, and its notification waits in the outbox', async () => {
  const api = await startTestApi({ REDIS_URL: `redis://127.0.0.1:${await findFreePort()}` });
  try {
    const { email, user_id } = await newSession(api, newDevice());
    const session = await logIn(api, email, newDevice());
    const rows = await api.collections.outbox
      .find({ 'event.subject': user_id, topic: /notice/ })
      .sort({ _id: 1 })
      .toArray();
    expect(rows).toMatchObject([{ state: 'pending', event: { data: notificationOf(session, user_id) } }]);
  } finally {
    await api.close();
  }
});

test('a device whose session its owner has ended by its id causes a notification at its next login', async () => {
  const { api } = services;
  for (const device of [newDevice(), {}]) {
    const { user_id, email, ...owner } = await newSession(api, newDevice());
    const before = await logIn(api, email, device);
    expect((await api.revokeSession({ session_id: before.session_id }, bearer(owner))).status).toBe(200);
    const again = await logIn(api, email, device);
    expect(await notificationsOf(user_id)).toEqual([notificationOf(before, user_id), notificationOf(again, user_id)]);
  }
});

describe('a client without a device_id', () => {
  test.each<[string, (owner: Account & TokenPair) => Promise<unknown>, string?]>([
    ['a change of the password', (owner) => changePassword(owner), new_password],
    ['a change of the email address', (owner) => changeEmail(services.api, owner, `new-${owner.email}`)],
    ['a logout of all others', (owner) => services.api.logOutAll({ except_current: true }, bearer(owner))],
  ])(
    'a client without a device_id causes no notification at its next login after %s',
    async (_, change, now = password) => {
      const { api } = services;
      const owner = await newSession(api);
      await change(owner);
      const { email = '' } = (await api.collections.users.findOne({ _id: owner.user_id })) ?? {};
      await logIn(api, email, { password: now });
      const notifications = (await notificationsOf(owner.user_id)).filter(({ purpose }) => purpose === 'new_device');
      expect(notifications).toEqual([]);
    },
  );

  test('a client without a device_id stays known when a session of another device ends that the account has forgotten', async () => {
    const { api } = services;
    const { user_id, email, ...owner } = await newSession(api);
    const other = await logIn(api, email, newDevice());
    await api.collections.users.updateOne({ _id: user_id }, { $set: { known_devices: ['unnamed'] } });
    expect((await api.revokeSession({ session_id: other.session_id }, bearer(owner))).status).toBe(200);
    await logIn(api, email);
    expect(await notificationsOf(user_id)).toEqual([notificationOf(other, user_id)]);
  });

  test('a client without a device_id is known as long as a session of such a client lives', async () => {
    const { api } = services;
    const { user_id, email } = await newSession(api);
    await api.collections.users.updateOne({ _id: user_id }, { $set: { known_devices: [randomUUID()] } });
    await logIn(api, email);
    expect(await notificationsOf(user_id)).toEqual([]);
  });

  test('a session of an earlier release, which does not show whether its device_id was sent, causes a notification rather than none', async () => {
    const { api } = services;
    const { user_id, email, ...owner } = await newSession(api, newDevice());
    const before = await logIn(api, email);
    await api.collections.sessions.updateMany({ user_id }, { $unset: { is_device_named: true } });
    await api.revokeSession({ session_id: before.session_id }, bearer(owner));
    const again = await logIn(api, email);
    expect(await notificationsOf(user_id)).toEqual([notificationOf(before, user_id), notificationOf(again, user_id)]);
  });
});

describe('the first login', () => {
  test('the first login on the device of the registration causes no notification', async () => {
    const device = newDevice();
    const { email, user_id } = await register({ device_id: device.device_id.toUpperCase() });
    await logIn(services.api, email, device);
    expect(await notificationsOf(user_id)).toEqual([]);
  });

  test('the first login on another device than the registration’s causes a notification', async () => {
    const { email, user_id } = await register(newDevice());
    const session = await logIn(services.api, email, newDevice());
    expect(await notificationsOf(user_id)).toEqual([notificationOf(session, user_id)]);
  });
});

test('an account remembers the newest 20 devices, and those that are logged in', async () => {
  const { api } = services;
  const device = newDevice();
  const { email, user_id } = await newSession(api, device);
  const others = Array.from({ length: 20 }, () => randomUUID());
  await api.collections.users.updateOne({ _id: user_id }, { $set: { known_devices: [device.device_id, ...others] } });
  const session = await logIn(api, email, newDevice());
  const user = await api.collections.users.findOne({ _id: user_id });
  expect(user?.known_devices).toEqual([...others.slice(1), session.device_id]);
  await logIn(api, email, device);
  expect(await notificationsOf(user_id)).toEqual([notificationOf(session, user_id)]);
});
