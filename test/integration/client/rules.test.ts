import { AuthError } from '@auth-account/client';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { logIn, newEmail, password } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import type { Fate } from '../../support/client/app-network.ts';
import { type ClientFixture, noStream, openClientFixture, type TestApp } from '../../support/client/client-fixture.ts';
import { createMemoryStorage } from '../../support/client/memory-storage.ts';
import { createSharedTabs } from '../../support/client/shared-tabs.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

let fixture: ClientFixture;

beforeAll(async () => {
  fixture = await openClientFixture();
});

afterAll(() => fixture.close());

const textOf = (app: TestApp) => JSON.stringify([...app.storage.content]);
const sessionIdOf = (app: TestApp) => {
  const state = app.client.state();
  return state.status === 'signed_in' ? state.session.session_id : '';
};
const isRevoked = async (id: string) =>
  (await fixture.api.collections.sessions.findOne({ _id: id }))?.is_revoked === true;
const errorOf = async (work: Promise<unknown>): Promise<AuthError> => {
  const error = await work.then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(AuthError);
  return error;
};
/** Lets the access token expire on the app's clock. */
const expire = (app: TestApp) => {
  app.clock.monotonic += 3_600_000;
};

describe('1. only a catalogue code ends a session', () => {
  const harmless: readonly Fate[] = [
    'request_lost',
    'answer_lost',
    'captive_portal',
    'foreign_401',
    'unavailable',
    'no_pod_left',
    'throttled',
    'hangs',
  ];

  // answers: amplify-js 10393, https://github.com/aws-amplify/amplify-js/issues/10393
  // Users who opened the app offline with an expired token seemed to be signed out.
  // answers: auth-js 141, https://github.com/supabase/auth-js/issues/141
  // Users were signed out because the phone was offline.
  // answers: better-auth 8420, https://github.com/better-auth/better-auth/issues/8420
  // A session was dropped because the phone was offline.
  test.each(harmless)('a refresh whose fate is %s ends no session', async (fate) => {
    const app = await fixture.signedIn(noStream);
    expire(app);
    app.network.plan('/refresh', fate, fate);
    const found = app.client.account.find();
    found.catch(() => undefined);
    for (const tries of fate === 'hangs' ? [1, 2] : []) {
      await eventually('the request hangs', async () => app.network.to('/refresh').length === tries);
      app.giveUpWaiting();
    }
    const error = await errorOf(found);
    expect([error.retry, error.reaction.type]).toEqual(['after_delay', 'RETRY_WITH_BACKOFF']);
    expect(app.client.state().status).toBe('signed_in');
    app.network.fix();
    expect((await app.client.account.find()).email).toBe(app.email);
  });

  // answers: react-native-auth0 916, https://github.com/auth0/react-native-auth0/issues/916
  // An app could not know why a session had ended.
  // answers: react-native-auth0 680, https://github.com/auth0/react-native-auth0/issues/680
  // An app could not know why a session had ended.
  test('the answer that another device has ended the session signs the app out', async () => {
    const app = await fixture.signedIn(noStream);
    const other = await logIn(fixture.api, app.email);
    await fixture.api.revokeSession({ session_id: sessionIdOf(app) }, bearer(other));
    await errorOf(app.client.account.find());
    expect(app.client.state()).toEqual({ status: 'signed_out', reason: 'revoked' });
    expect(textOf(app)).not.toContain('refresh_token');
  });

  // answers: better-auth 8952, https://github.com/better-auth/better-auth/issues/8952
  // A store that could not be read looked like a logout.
  test('a session in unreadable storage is unknown, and signed in when the storage opens', async () => {
    const app = await fixture.signedIn(noStream);
    app.storage.isLocked = true;
    const again = app.restart();
    expect((await errorOf(again.client.ready())).code).toBe('CLIENT_STATE_UNKNOWN');
    expect((await errorOf(again.client.account.find())).code).toBe('CLIENT_STATE_UNKNOWN');
    expect(again.client.state()).toEqual({ status: 'unknown', isUnreadable: true });
    app.storage.isLocked = false;
    await eventually('the client has read the storage', async () => again.client.state().status === 'signed_in');
  });
});

describe('2. one refresh is in flight', () => {
  test('one refresh serves all callers', async () => {
    const app = await fixture.signedIn(noStream);
    expire(app);
    await Promise.all(Array.from({ length: 10 }, () => app.client.account.find()));
    expect(app.network.to('/refresh')).toHaveLength(1);
  });

  // answers: react-native-auth0 1374, https://github.com/auth0/react-native-auth0/issues/1374
  // A refresh whose answer was lost counted as theft later.
  // answers: Supabase Auth 1290, https://github.com/supabase/auth/issues/1290
  // A refresh whose answer was lost counted as theft later.
  test('a refresh whose answer is lost is repeated with the same token', async () => {
    const app = await fixture.signedIn(noStream);
    expire(app);
    app.network.plan('/refresh', 'answer_lost');
    await app.client.account.find();
    const [first, second] = app.network.to('/refresh').map(({ body }) => body);
    expect(second).toBe(first);
  });

  // answers: Keycloak 14122, https://github.com/keycloak/keycloak/issues/14122
  // With rotation, tabs of one browser made each other’s refresh tokens outdated.
  // answers: auth-js 213, https://github.com/supabase/auth-js/issues/213
  // Tabs refreshed at once and signed each other out.
  // answers: auth0-spa-js 553, https://github.com/auth0/auth0-spa-js/issues/553
  // Tabs refreshed at once and signed each other out.
  // answers: Logto js 1073, https://github.com/logto-io/js/issues/1073
  // Tabs refreshed at once and signed each other out.
  test('two tabs share one refresh, and both go on with it', async () => {
    const shared = createSharedTabs();
    const storage = createMemoryStorage();
    const [one, two] = [
      fixture.app({ ...noStream, ...shared }, storage),
      fixture.app({ ...noStream, ...shared }, storage),
    ];
    const email = newEmail();
    await one.client.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
    await one.client.logIn({ email, password });
    await eventually('the other tab knows', async () => two.client.state().status === 'signed_in');
    expire(one);
    expire(two);
    await Promise.all([one.client.account.find(), two.client.account.find(), one.client.account.find()]);
    expect(one.network.to('/refresh').length + two.network.to('/refresh').length).toBe(1);
    await two.client.logOut();
    await eventually('the first tab is out too', async () => one.client.state().status === 'signed_out');
  });
});

describe('3. the new pair is stored before it is used', () => {
  test('a crash between storing and using the new pair loses nothing', async () => {
    const app = await fixture.signedIn(noStream);
    const before = textOf(app);
    expire(app);
    app.storage.isReadOnly = true;
    await app.client.account.find();
    expire(app);
    await app.client.account.find();
    expect(textOf(app)).toBe(before);
    const [first, second] = app.network.to('/refresh').map(({ body }) => body);
    // The refresh whose token could not be stored sends the stored token again.
    expect(second).toBe(first);
    app.storage.isReadOnly = false;
    const again = app.restart();
    expect((await again.client.account.find()).email).toBe(app.email);
  });

  test('a write of a new pair that broke off leaves the one before', async () => {
    const app = await fixture.signedIn(noStream);
    expire(app);
    await app.client.account.find();
    const slots = [...app.storage.content.keys()].filter((key) => key.includes('.session.'));
    const newest = slots.sort((a, b) => numberIn(app, b) - numberIn(app, a))[0] ?? '';
    app.storage.content.set(newest, '{"n":9');
    const again = app.restart();
    expect((await again.client.account.find()).email).toBe(app.email);
  });

  const numberIn = (app: TestApp, slot: string) => JSON.parse(app.storage.content.get(slot) ?? '{}').n as number;
});

describe('4. an epoch guards every await', () => {
  test('a late refresh revives no session', async () => {
    const app = await fixture.signedIn(noStream);
    expire(app);
    app.network.plan('/refresh', 'answer_held');
    const late = app.client.account.find();
    late.catch(() => undefined);
    await eventually('the answer is held', async () => app.network.held() === 1);
    await app.client.logOut();
    app.network.release();
    expect((await errorOf(late)).code).toBe('CLIENT_SUPERSEDED');
    expect(app.client.state().status).toBe('signed_out');
    await expect(app.restart().client.ready()).resolves.toMatchObject({ status: 'signed_out' });
  });

  test('a late refresh does not harm the user who logged in after it', async () => {
    const app = await fixture.signedIn(noStream);
    const other = await fixture.signedIn(noStream);
    expire(app);
    app.network.plan('/refresh', 'answer_held');
    const late = app.client.account.find();
    late.catch(() => undefined);
    await eventually('the answer is held', async () => app.network.held() === 1);
    await app.client.logOut();
    await app.client.logIn({ email: other.email, password });
    app.network.release();
    await errorOf(late);
    expect((await app.client.account.find()).email).toBe(other.email);
  });

  test('a login that a logout has overtaken is logged out', async () => {
    const app = await fixture.signedIn(noStream);
    await app.client.logOut();
    app.network.plan('/login', 'answer_held');
    const late = app.client.logIn({ email: app.email, password });
    late.catch(() => undefined);
    await eventually('the answer is held', async () => app.network.held() === 1);
    await app.client.logOut();
    app.network.release();
    expect((await errorOf(late)).code).toBe('CLIENT_SUPERSEDED');
    expect(app.client.state().status).toBe('signed_out');
    const user_id = (await fixture.api.collections.users.findOne({ email_key: app.email }))?._id ?? '';
    await eventually('no session lives', async () => {
      return (await fixture.api.collections.sessions.countDocuments({ user_id, is_revoked: false })) === 0;
    });
  });
});

describe('5. time is counted from receipt on the monotonic clock', () => {
  // answers: auth0-spa-js 153, https://github.com/auth0/auth0-spa-js/issues/153
  // By a wrong clock expired tokens were used, or none seemed valid.
  // answers: auth0-spa-js 1089, https://github.com/auth0/auth0-spa-js/issues/1089
  // By a wrong clock expired tokens were used, or none seemed valid.
  test.each([1, -1])('a wall clock that is %s day wrong changes nothing', async (days) => {
    const app = await fixture.signedIn(noStream);
    app.clock.wall = days * 86_400_000;
    await app.client.account.find();
    expect(app.network.to('/refresh')).toHaveLength(0);
    app.clock.monotonic += 590_000;
    await app.client.account.find();
    // The token was renewed before it could be refused.
    expect(app.network.to('/refresh')).toHaveLength(1);
    expect(app.network.to('/account')).toHaveLength(2);
  });

  test('a token that the service refuses before its end is renewed', async () => {
    const app = await fixture.signedIn(noStream);
    const invitee = await fixture.signedIn(noStream);
    const { invite_token } = await app.client.invites.create();
    const group = await invitee.client.invites.accept(invite_token, { leave_current_group: true });
    expect(invitee.client.state()).toMatchObject({ session: { home_group_id: group.home_group_id } });
    expect(invitee.events).toContainEqual({ type: 'group_changed', home_group_id: group.home_group_id });
    expect((await invitee.client.group.find()).members).toHaveLength(2);
  });
});

describe('6. logging out is at once, and offline too', () => {
  // answers: supabase-js 2501, https://github.com/supabase/supabase-js/issues/2501
  // A logout needed a network, or left tokens behind.
  // answers: auth-js 540, https://github.com/supabase/auth-js/issues/540
  // A logout needed a network, or left tokens behind.
  test('an offline logout lasts across a restart, until the service knows', async () => {
    const app = await fixture.signedIn(noStream);
    const id = sessionIdOf(app);
    app.network.isOnline = false;
    const done = app.client.logOut();
    expect(app.client.state()).toEqual({ status: 'signed_out', reason: 'logged_out' });
    await done;
    expect(await isRevoked(id)).toBe(false);
    const again = app.restart();
    expect(await again.client.ready()).toEqual({ status: 'signed_out', reason: 'logged_out' });
    await eventually('the service knows', () => isRevoked(id));
    await eventually('the token is gone', async () => !textOf(app).includes('refresh_token'));
  });

  test('an undelivered logout is delivered also if another user logs in before', async () => {
    const app = await fixture.signedIn(noStream);
    const id = sessionIdOf(app);
    const other = await fixture.signedIn(noStream);
    app.network.plan('/logout', 'no_pod_left', 'request_lost');
    await app.client.logOut();
    await app.client.logIn({ email: other.email, password });
    await eventually('the service knows', () => isRevoked(id));
    expect((await app.client.account.find()).email).toBe(other.email);
    expect(await isRevoked(sessionIdOf(app))).toBe(false);
  });

  test('a logout while the storage is locked is delivered as soon as it opens', async () => {
    const app = await fixture.signedIn(noStream);
    const id = sessionIdOf(app);
    app.storage.isLocked = true;
    const again = app.restart();
    expect((await errorOf(again.client.logOut())).code).toBe('CLIENT_STATE_UNKNOWN');
    expect(again.client.state()).toEqual({ status: 'signed_out', reason: 'logged_out' });
    app.storage.isLocked = false;
    await eventually('the service knows', () => isRevoked(id));
  });
});

describe('7. a registration never reports its user’s own email address as taken', () => {
  const form = () => ({ email: newEmail(), password, space_creation_mode: 'CREATE_NEW_HOME' }) as const;

  test('a registration after a lost answer succeeds', async () => {
    const app = fixture.app(noStream);
    const input = form();
    app.network.plan('/register', 'answer_lost');
    expect((await app.client.register(input)).user_id).toBeTruthy();
    const keys = app.network.to('/register').map(({ headers }) => headers.get('Idempotency-Key'));
    expect(keys).toEqual([keys[0], keys[0]]);
    expect(textOf(app)).not.toContain(input.email);
  });

  test('a registration after the app was killed succeeds', async () => {
    const app = fixture.app(noStream);
    const input = form();
    app.network.plan('/register', 'answer_lost', 'answer_lost');
    await errorOf(app.client.register(input));
    const again = app.restart();
    const { user_id } = await again.client.register(input);
    expect((await again.client.logIn({ email: input.email, password })).user_id).toBe(user_id);
  });

  test('a registration after the service has forgotten the key signs its user in', async () => {
    const app = fixture.app(noStream);
    const input = form();
    app.network.plan('/register', 'answer_lost', 'answer_lost');
    await errorOf(app.client.register(input));
    await fixture.api.collections.idempotency.deleteMany({});
    const { user_id } = await app.client.register(input);
    expect(app.client.state()).toMatchObject({ status: 'signed_in', session: { user_id } });
  });

  test('a registration with another user’s email is refused', async () => {
    const app = await fixture.signedIn(noStream);
    const error = await errorOf(fixture.app(noStream).client.register({ ...form(), email: app.email }));
    expect(error.code).toBe('ERR-EMAIL-ALREADY-EXISTS');
  });
});
