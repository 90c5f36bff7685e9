import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { password } from '../../support/api/accounts.ts';
import { type ClientFixture, noStream, openClientFixture, type TestApp } from '../../support/client/client-fixture.ts';
import { createSharedTabs } from '../../support/client/shared-tabs.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

let fixture: ClientFixture;

beforeAll(async () => {
  fixture = await openClientFixture();
});

afterAll(() => fixture.close());

const untilHeld = (app: TestApp) => eventually('the answer is held', async () => app.network.held() === 1);
/** Returns the work's error or its result. */
const outcomeOf = (work: Promise<unknown>) => work.catch((error) => error);

test.each([
  ['revokeAll', '/logout-all', (app: TestApp) => app.client.sessions.revokeAll()],
  ['delete', '/account/deletion', (app: TestApp) => app.client.account.delete({ current_password: password })],
])('the late answer to %s ends nobody who has logged in meanwhile', async (_name, path, end) => {
  const app = await fixture.signedIn(noStream);
  const other = await fixture.signedIn(noStream);
  app.network.plan(path, 'answer_held');
  const late = outcomeOf(end(app));
  await untilHeld(app);
  await app.client.logOut();
  await app.client.logIn({ email: other.email, password });
  app.network.release();
  await late;
  expect(app.client.state().status).toBe('signed_in');
  expect((await app.client.account.find()).email).toBe(other.email);
});

/** Makes the storage's next write of a session wait. */
function holdWrite({ storage }: TestApp): { isWaiting: () => boolean; release: () => void } {
  const { set } = storage;
  let release: (() => void) | undefined;
  storage.set = async (key, value) => {
    if (key.includes('.session.')) {
      storage.set = set;
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    }
    return set(key, value);
  };
  return { isWaiting: () => release !== undefined, release: () => release?.() };
}

const liveSessionsOf = async (email: string) => {
  const user_id = (await fixture.api.collections.users.findOne({ email_key: email }))?._id ?? '';
  return fixture.api.collections.sessions.countDocuments({ user_id, is_revoked: false });
};

test('a logout while the session of a login is written is not forgotten', async () => {
  const app = await fixture.signedIn(noStream);
  await app.client.logOut();
  const textOf = () => JSON.stringify([...app.storage.content]);
  await eventually('the logout is delivered', async () => !textOf().includes('refresh_token'));
  const write = holdWrite(app);
  const late = outcomeOf(app.client.logIn({ email: app.email, password }));
  await eventually('the session is being written', async () => write.isWaiting());
  const done = app.client.logOut();
  write.release();
  await done;
  expect(await late).toMatchObject({ code: 'CLIENT_SUPERSEDED' });
  expect(app.client.state().status).toBe('signed_out');
  await expect(app.restart().client.ready()).resolves.toMatchObject({ status: 'signed_out' });
  await eventually('no session lives', async () => (await liveSessionsOf(app.email)) === 0);
});

test('nothing is sent with a token that came while the user logged out', async () => {
  const app = await fixture.signedIn(noStream);
  app.clock.monotonic += 3_600_000;
  const write = holdWrite(app);
  const late = outcomeOf(app.client.account.find());
  await eventually('the pair is being written', async () => write.isWaiting());
  const done = app.client.logOut();
  write.release();
  await done;
  expect(await late).toMatchObject({ code: 'CLIENT_SUPERSEDED' });
  expect(app.network.to('/account')).toHaveLength(0);
  await eventually('no session lives', async () => (await liveSessionsOf(app.email)) === 0);
});

test('a login succeeds whose own effect on the session before is heard of first', async () => {
  const app = await fixture.signedIn(noStream);
  app.clock.monotonic += 3_600_000;
  app.network.plan('/login', 'answer_held');
  const again = outcomeOf(app.client.logIn({ email: app.email, password }));
  await untilHeld(app);
  await outcomeOf(app.client.account.find());
  expect(app.client.state()).toEqual({ status: 'signed_out', reason: 'replaced' });
  app.network.release();
  expect(await again).toHaveProperty('session_id');
  expect((await app.client.account.find()).email).toBe(app.email);
});

test('of two tabs that log in at once, without locks or a channel, both hold the session that lives', async () => {
  const { email, storage, client } = await fixture.signedIn(noStream);
  for (let time = 1; time <= 5; time += 1) {
    await client.logOut();
    const tabs = [fixture.app(noStream, storage), fixture.app(noStream, storage)];
    await Promise.all(tabs.map((tab) => tab.client.ready()));
    const infos = await Promise.all(tabs.map((tab) => tab.client.logIn({ email, password })));
    expect(new Set(infos.map(({ device_id }) => device_id)).size).toBe(1);
    for (const tab of tabs) {
      tab.clock.monotonic += hourMs;
      // The first call may meet the other tab's session, of which the tab learns only from the storage.
      await tab.client.account.find().catch(() => undefined);
      expect((await tab.client.account.find()).email).toBe(email);
      expect(tab.client.state().status).toBe('signed_in');
      tab.client.close();
    }
    await client.ready();
  }
});

const hourMs = 3_600_000;
/** Kinds of frozen tabs. The tab's refresh has this fate until `thaw`, and holds the lock of all tabs. */
const frozen = {
  'whose answer comes late': { fate: 'answer_held', thaw: (tab: TestApp) => tab.network.release() },
  'which sends its request again': { fate: 'hangs', thaw: (tab: TestApp) => tab.giveUpWaiting() },
} as const;

test.each(Object.entries(frozen))(
  'a tab that was frozen while it refreshed, %s, is no thief',
  async (_, { fate, thaw }) => {
    const shared = { ...noStream, ...createSharedTabs() };
    const tab = await fixture.signedIn(shared);
    const other = fixture.app(shared, tab.storage);
    await other.client.ready();
    const { length: before } = tab.network.to('/refresh');
    const pass = (app: TestApp) => {
      app.clock.monotonic += hourMs;
    };
    pass(tab);
    tab.network.plan('/refresh', fate);
    const late = outcomeOf(tab.client.account.find());
    await eventually('the refresh is on its way', async () => tab.network.to('/refresh').length > before);
    if (fate === 'answer_held') await untilHeld(tab);
    for (const refreshes of [1, 2, 3]) {
      pass(other);
      let isDone = false;
      const done = other.client.account.find().finally(() => {
        isDone = true;
      });
      await eventually('the other tab goes on without the lock', async () => {
        if (other.network.to('/refresh').length < refreshes) other.giveUpWaiting();
        return isDone;
      });
      await done;
    }
    thaw(tab);
    expect(await late).toMatchObject({ email: tab.email });
    for (const app of [tab, other, tab]) {
      pass(app);
      expect((await app.client.account.find()).email).toBe(tab.email);
    }
  },
);
