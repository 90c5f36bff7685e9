import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { password } from '../../support/api/accounts.ts';
import { type ClientFixture, openClientFixture } from '../../support/client/client-fixture.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

let fixture: ClientFixture;

beforeAll(async () => {
  fixture = await openClientFixture();
});

afterAll(() => fixture.close());

test('an app registers, logs in, opens the stream, calls, and logs out', async () => {
  const { client, events, storage } = await fixture.signedIn();
  expect(client.state().status).toBe('signed_in');
  await eventually('the stream is open', async () => client.stream.isOpen());
  expect((await client.account.find()).email).toContain('@');
  expect((await client.sessions.list()).sessions).toHaveLength(1);
  await client.logOut();
  expect(client.state()).toEqual({ status: 'signed_out', reason: 'logged_out' });
  await eventually(
    'the logout was delivered',
    async () => !JSON.stringify([...storage.content]).includes('refresh_token'),
  );
  expect(events.map(({ type }) => type)).toContain('signed_out');
  await expect(client.account.find()).rejects.toMatchObject({ code: 'CLIENT_SIGNED_OUT' });
});

test('an app is signed in again after a restart', async () => {
  const app = await fixture.signedIn();
  const again = app.restart();
  expect(again.client.state()).toEqual({ status: 'unknown' });
  expect((await again.client.ready()).status).toBe('signed_in');
  expect((await again.client.account.find()).email).toBe(app.email);
  await again.client.logIn({ email: app.email, password });
});
