import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { password } from '../../support/accounts.ts';
import { type ClientScene, openClientScene, type TestApp } from '../../support/client-scene.ts';
import { eventually } from '../../support/worker-scene.ts';

let scene: ClientScene;

beforeAll(async () => {
  scene = await openClientScene();
});

afterAll(() => scene.close());

const noStream = { stream: false } as const;
const untilHeld = (app: TestApp) => eventually('the answer is held', async () => app.network.held() === 1);
/** What became of the work: its error, or its result. */
const outcomeOf = (work: Promise<unknown>) => work.catch((error) => error);

test.each([
  ['revokeAll', '/logout-all', (app: TestApp) => app.client.sessions.revokeAll()],
  ['delete', '/account/deletion', (app: TestApp) => app.client.account.delete(password)],
])('the late answer to %s ends nobody who has logged in meanwhile', async (_name, path, end) => {
  const app = await scene.signedIn(noStream);
  const other = await scene.signedIn(noStream);
  app.network.plan(path, 'answer_held');
  const late = outcomeOf(end(app));
  await untilHeld(app);
  await app.client.logOut();
  await app.client.logIn({ email: other.email, password });
  await app.network.release();
  await late;
  expect(app.client.state().status).toBe('signed_in');
  expect((await app.client.account.find()).email).toBe(other.email);
});
