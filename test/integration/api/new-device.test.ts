import { randomUUID } from 'node:crypto';
import { newDeviceTopic } from '@auth-account/contracts';
import type { UserDocument } from '@auth-account/stores/documents';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { none } from '../../../services/api/src/announcements/commit.ts';
import {
  type DeviceLogin,
  knownAs,
  learnedDevice,
  newDeviceNotification,
} from '../../../services/api/src/usecases/login/new-device.ts';
import { type AccountFixture, openAccountFixture } from '../../support/api/account-fixture.ts';
import { newUserDocument } from '../../support/api/seed-accounts.ts';

let fixture: AccountFixture;
beforeAll(async () => {
  fixture = await openAccountFixture();
});
beforeEach(() => fixture.clear());
afterAll(() => fixture.close());

const ago = (ms: number) => new Date(fixture.now().getTime() - ms);
const day = 86_400_000;
/** Returns the times of ten notifications of the last day, of which the oldest was `ms` ago. */
const tenSince = (ms: number) => [ago(ms), ...Array.from({ length: 9 }, () => ago(1))];
const account = (fields: Partial<UserDocument> = {}) => ({ ...newUserDocument(fixture.now()), ...fields });

test('a device is known by its id, in whatever case it is written, and without one by a common name', () => {
  expect([knownAs({ device_id: 'ABC-1' }), knownAs({})]).toEqual(['abc-1', 'unnamed']);
});

describe('an account', () => {
  const learned = (fields: Partial<UserDocument>) => learnedDevice(account(fields), 'phone', fixture.now());

  test('an account learns a device that it does not know', () => {
    expect(learned({ known_devices: ['tablet', 'phone'] })).toBeUndefined();
    expect(learned({ known_devices: ['tablet'] })).toEqual({ name: 'phone', counts: true });
    expect(learned({ known_devices: [] })).toEqual({ name: 'phone', counts: true });
  });

  test('an account counts neither its first device nor one of which it gets no notification', () => {
    expect(learned({})).toEqual({ name: 'phone', counts: false });
    const known_devices = ['tablet'];
    expect(learned({ known_devices, new_device_notices: tenSince(day - 1) })).toMatchObject({ counts: false });
    expect(learned({ known_devices, new_device_notices: tenSince(day) })).toMatchObject({ counts: true });
  });
});

describe('a login on a device', () => {
  /** Commits a login that writes only its notification. */
  async function logIn(fields: Partial<UserDocument>, given: Partial<DeviceLogin> = {}) {
    const user = account(fields);
    const { document } = await fixture.session({ user_id: user._id, device_name: 'Pixel', platform: 'android' });
    const at = document.created_at;
    const login = { user, device: 'phone', at, session: document, live: [], ended: [], ...given };
    const notification = newDeviceNotification(fixture.deps, login, { ...fixture.origin, locale: 'ru' });
    const work = async () => ({ ...notification, audit: none, sessions: none });
    await fixture.commit({ at, work, isCommitted: 'by event', ifClientLeft: 'commit' }, fixture.origin);
    return { user, document, rows: await fixture.rows() };
  }

  const live = (...ids: string[]) => ids.map((_id) => ({ _id, device_id: `device ${_id}`, last_used_at: ago(1) }));

  test('a login on an unknown device is notified by email, and to the sessions that go on', async () => {
    const login = { live: live('one', 'two', 'three'), ended: ['two'] };
    const { user, document, rows } = await logIn({ known_devices: ['tablet'] }, login);
    const at = document.created_at.toISOString();
    const data = { user_id: user._id, purpose: 'new_device', locale: 'ru', session_id: document._id };
    expect(rows).toMatchObject([{ state: 'pending', topic: 'service.auth.events.notice' }]);
    expect(rows.map(({ event }) => [event.data, event.time, event.requestid])).toEqual([
      [data, at, fixture.origin.requestId],
    ]);
    expect(fixture.published).toEqual(rows.map(({ event }) => event));
    const payload = { session_id: document._id, device_name: 'Pixel', platform: 'android', created_at: at };
    const content = { topic: newDeviceTopic, payload, id: rows[0]?.event.id, at: document.created_at };
    expect(fixture.messages).toEqual([[['one', 'three'], content]]);
  });

  test('a login on an unknown device is notified to the apps alone when the emails of the day are sent', async () => {
    const fields = { known_devices: ['tablet'], new_device_notices: tenSince(day - 1) };
    const { rows, document } = await logIn(fields, { live: live('one') });
    expect([rows, fixture.published]).toEqual([[], []]);
    expect(fixture.messages).toMatchObject([[['one'], { payload: { session_id: document._id } }]]);
  });

  test.each<[string, Partial<UserDocument>, () => Partial<DeviceLogin>]>([
    ['that the account has forgotten like all others', { known_devices: [] }, () => ({})],
    ['beside a session on another one, with no known devices', {}, () => ({ live: live('one') })],
  ])('a login on a device %s sends a notification', async (_, fields, login) => {
    expect((await logIn(fields, login())).rows).toHaveLength(1);
  });

  const onPhone = () => [{ _id: randomUUID(), device_id: 'phone', last_used_at: ago(1) }, ...live('one')];
  test.each<[string, Partial<UserDocument>, () => Partial<DeviceLogin>]>([
    ['that the account knows', { known_devices: ['tablet', 'phone'] }, () => ({ live: live('one') })],
    ['that has a session', { known_devices: ['tablet'] }, () => ({ live: onPhone() })],
    ['that is the account’s first', {}, () => ({})],
  ])('a login on a device %s sends no notification', async (_, fields, login) => {
    const { rows } = await logIn(fields, login());
    expect([rows, fixture.published, fixture.messages]).toEqual([[], [], []]);
  });
});
