import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { password } from '../../support/api/accounts.ts';
import { type ClientFixture, openClientFixture } from '../../support/client/client-fixture.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

let fixture: ClientFixture;

beforeAll(async () => {
  fixture = await openClientFixture();
});

afterAll(() => fixture.close());

test('a login that ends after the client was closed is whole', async () => {
  const openChannel = () => new BroadcastChannel('closing-test');
  const app = await fixture.signedIn({ stream: false, openChannel: openChannel as never });
  await app.client.logOut();
  app.network.plan('/login', 'answer_held');
  const late = app.client.logIn({ email: app.email, password });
  late.catch(() => undefined);
  await eventually('the answer is held', async () => app.network.held() === 1);
  app.client.close();
  app.network.release();
  expect(await late).toHaveProperty('session_id');
  expect(app.log.map(({ event }) => event)).not.toContain('storage_failed');
});
