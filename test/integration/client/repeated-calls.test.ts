import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newEmail, password, registerAccount } from '../../support/api/accounts.ts';
import { type ClientFixture, codeOf, noStream, openClientFixture } from '../../support/client/client-fixture.ts';

let fixture: ClientFixture;

beforeAll(async () => {
  fixture = await openClientFixture();
});

afterAll(() => fixture.close());

const form = () => ({ email: newEmail(), password, space_creation_mode: 'CREATE_NEW_HOME' }) as const;

describe('a registration', () => {
  test('a registration that is tapped twice is one', async () => {
    const app = fixture.app(noStream);
    const input = form();
    const [one, two] = await Promise.all([app.client.register(input), app.client.register({ ...input })]);
    expect(two).toEqual(one);
    expect(app.network.to('/register')).toHaveLength(1);
  });

  test('a registration keeps its key while the storage cannot be read', async () => {
    const app = fixture.app(noStream);
    const input = form();
    app.network.plan('/register', 'answer_lost', 'answer_lost');
    expect(await codeOf(app.client.register(input))).toBe('CLIENT_NETWORK');
    const again = app.restart();
    const { get } = app.storage;
    app.storage.get = async (key) => {
      if (key.endsWith('.registration')) throw new Error('the storage is locked');
      return get(key);
    };
    expect(await codeOf(again.client.register(input))).toBe('CLIENT_STATE_UNKNOWN');
    app.storage.get = get;
    expect(await codeOf(again.client.register(input))).toBe('none');
  });
});

describe('a login', () => {
  const signedOut = async () => {
    const app = fixture.app(noStream);
    const { email, user_id } = await registerAccount(fixture.api);
    const opened = () => fixture.api.collections.sessions.countDocuments({ user_id });
    return { app, credentials: { email, password }, opened };
  };

  test('a login that a network repeats holds a session that lives', async () => {
    const { app, credentials, opened } = await signedOut();
    app.network.plan('/login', 'sent_twice');
    await app.client.logIn(credentials);
    await app.client.account.find();
    expect(await opened()).toBe(1);
  });

  test('a login after a lost answer gets the session of the first one, also after a restart', async () => {
    const { app, credentials, opened } = await signedOut();
    app.network.plan('/login', 'answer_lost');
    expect(await codeOf(app.client.logIn(credentials))).toBe('CLIENT_NETWORK');
    const again = app.restart();
    await again.client.logIn(credentials);
    await again.client.account.find();
    expect(await opened()).toBe(1);
  });

  test('a login makes a new key once its outcome is known', async () => {
    const { app, credentials } = await signedOut();
    await expect(app.client.logIn({ ...credentials, password: 'wrong password' })).rejects.toThrow();
    const first = await app.client.logIn(credentials);
    const second = await app.client.logIn(credentials);
    expect(second.session_id).not.toBe(first.session_id);
  });
});

describe('an operation that takes an idempotency key', () => {
  test('an operation that takes an idempotency key is done once, and answered, although its answer is lost', async () => {
    const app = await fixture.signedIn(noStream);
    app.network.plan('/invites', 'answer_lost');
    const { invite_token } = await app.client.invites.create();
    const { invites } = await app.client.invites.list();
    expect(invites.map((invite) => invite.invite_token)).toEqual([invite_token]);
  });
});

describe('leaving a group', () => {
  test('leaving a group does not succeed offline, also right after a start', async () => {
    const app = await fixture.signedIn(noStream);
    const again = app.restart();
    again.network.isOnline = false;
    expect(await codeOf(again.client.group.leave())).toBe('CLIENT_NETWORK');
  });

  test('leaving a group leaves one group, also if the answer is lost and the token expires', async () => {
    const app = await fixture.signedIn(noStream);
    app.network.plan('/leave', 'answer_lost');
    expect(await codeOf(app.client.group.leave())).toBe('CLIENT_NETWORK');
    app.clock.monotonic += 3_600_000;
    const { home_group_id } = await app.client.group.leave();
    expect(app.network.to('/leave')).toHaveLength(1);
    expect((await app.client.group.find()).home_group_id).toBe(home_group_id);
  });
});
