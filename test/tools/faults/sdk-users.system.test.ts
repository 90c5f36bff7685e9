import { findFreePort, waitUntil } from '@auth-account/local-stack';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { logIn as logInElsewhere } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { startTestStack, type TestStack } from '../../support/processes/test-stack.ts';
import { createWorld } from './load/app.ts';
import { addSignInMethod, lacksSignInMethod, logIn, logOut, move, read, register } from './sdk/actions.ts';
import { checkSdkUsers } from './sdk/check-sdk-users.ts';
import type { App } from './sdk/phone.ts';
import { attempt, createSdkUser, killApp, type SdkUser, startApp, stateOf } from './sdk/sdk-user.ts';

let stack: TestStack;
let user: SdkUser;
let app: App;

beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.close());

/** Creates a user of the client who has registered and logged in. */
async function begin({ gateway = stack.pushUrl, id = 1 } = {}): Promise<void> {
  const world = await createWorld({ apis: [stack.apiUrl], gateways: [gateway] });
  user = createSdkUser({ world, id, seed: 1, isHost: true, household: {} });
  app = await startApp(user);
  await register(user, app);
  await logIn(user, app);
}
beforeEach(() => begin());
afterEach(async () => {
  user.phone.kill();
  await user.world.history.close();
});

/** Milliseconds of patience for checks that are to succeed. */
const long = 60_000;

async function found(patienceMs: number): Promise<string[]> {
  const { collections } = stack;
  await checkSdkUsers({ users: [user], history: user.world.history, collections, patienceMs });
  return violations();
}

const violations = () => user.world.history.violations.map(({ what }) => what);

test('checkSdkUsers finds nothing about a user who can work', async () => {
  await read(user, app);
  await move(user, app);
  expect(await found(long)).toEqual([]);
  expect(user.household.invite).toEqual(expect.any(String));
  const { figures } = user;
  expect(figures).toMatchObject({ sessions: 1, lost: 0, signedIn: 1, signOuts: 0, kills: 0, answered: 4 });
});

test('checkSdkUsers finds nothing about an app that was killed, started again, and refreshes', async () => {
  killApp(user);
  await startApp(user);
  expect(await found(long)).toEqual([]);
  expect(user.figures).toMatchObject({ kills: 1, refreshes: 1, lost: 0 });
});

describe('checkSdkUsers about a user with a second factor or a passkey', () => {
  test.each([
    ['bySecondFactor', 1],
    ['byPasskey', 2],
  ] as const)('checkSdkUsers finds nothing about a user whose logins succeed: %s', async (figure, id) => {
    user.phone.kill();
    await begin({ id });
    expect(lacksSignInMethod(user)).toBe(true);
    await addSignInMethod(user, app);
    expect(lacksSignInMethod(user)).toBe(false);
    for (let turn = 0; turn < 10 && user.figures[figure] === 0; turn += 1) {
      await logOut(user, app);
      await logIn(user, app);
    }
    expect(await found(long)).toEqual([]);
    expect(user.figures[figure]).toBe(1);
  });

  test('checkSdkUsers finds a second factor that is gone', async () => {
    await addSignInMethod(user, app);
    await stack.collections.users.updateOne({ _id: user.registration?.userId ?? '' }, { $unset: { totp: true } });
    expect(await found(long)).toEqual(['a sign-in method of a user of the client is gone']);
  });
});

describe('the end of a session', () => {
  const lost = 'a user of the client was signed out who did not ask for it';
  const restartWithOtherSession = () => {
    killApp(user);
    user.sessionId = 'another';
    return startApp(user);
  };

  test('a session that the service ends is a violation', async () => {
    const tokens = await logInElsewhere(stack, user.email, { password: user.password });
    await stack.logOutAll({}, bearer(tokens));
    // The stream is closed, and the app asks by a refresh why.
    await waitUntil(async () => violations().length > 0, { what: 'the end to be announced', timeoutMs: long });
    expect(user.world.history.violations).toMatchObject([{ what: lost, detail: { reason: 'revoked' } }]);
    expect(user.figures).toMatchObject({ sessions: 1, lost: 1 });
  });

  test.each<[string, () => Promise<unknown>]>([
    [lost, () => app.auth.logOut()],
    ['an app came back with another session', restartWithOtherSession],
    [
      'a user who has logged out is signed in',
      () => logOut(user, { ...app, auth: { ...app.auth, logOut: async () => undefined } }),
    ],
    [
      'a call of the client was refused',
      () => attempt(user, app, 'logIn', (auth) => auth.logIn({ email: user.email, password: 'not the password' })),
    ],
    [
      'a call of the client failed with something else than its own error',
      () => attempt(user, app, 'nothing', () => Promise.reject(new TypeError('broken'))),
    ],
  ])('it is a violation that %s', async (what, happen) => {
    await happen();
    expect(violations()).toEqual([what]);
  });

  test('a logout that its user asked for is no violation', async () => {
    const { sessionId } = user;
    await logOut(user, app);
    expect(await found(long)).toEqual([]);
    expect([...user.loggedOut]).toEqual([sessionId]);
    expect(user.figures).toMatchObject({ signOuts: 1, offline: 0, lost: 0, signedIn: 0 });
  });

  test('checkSdkUsers finds a logout until the service knows of the logout', async () => {
    user.phone.network.turn(false);
    await logOut(user, app);
    const undelivered = 'a logout of a user of the client has not reached the service';
    expect(await found(0)).toEqual([undelivered]);
    killApp(user);
    await startApp(user);
    user.phone.network.turn(true);
    expect(await found(long)).toEqual([undelivered]);
    expect(user.figures).toMatchObject({ signOuts: 1, offline: 1 });
  });
});

describe('a signed-in user', () => {
  const readOtherGroup = () => {
    const find = async () => ({ ...(await app.auth.group.find()), home_group_id: 'other' });
    user.app = { ...app, auth: { ...app.auth, group: { ...app.auth.group, find } } };
  };
  const beginWithoutGateway = async () => {
    user.phone.kill();
    await begin({ gateway: `ws://127.0.0.1:${await findFreePort()}` });
  };

  test.each<[string, () => unknown]>([
    ['an app of the client does not run', () => killApp(user)],
    ['a signed-in user of the client cannot work', () => user.phone.network.turn(false)],
    ['the stream of a signed-in user of the client is not open', beginWithoutGateway],
    ['an app of the client speaks of another group than its user is in', readOtherGroup],
  ])('checkSdkUsers finds that %s', async (what, happen) => {
    await happen();
    expect(await found(0)).toEqual([what]);
  });

  test('a read finds another user’s account, and a list without the app’s session', async () => {
    user.sessionId = 'another';
    user.registration = { ...user.registration, userId: 'another' } as SdkUser['registration'];
    for (let turn = 0; turn < 40; turn += 1) await read(user, app);
    expect(new Set(violations())).toEqual(
      new Set([
        'an app of the client read the account of somebody else',
        'an app of the client does not find its own session',
      ]),
    );
  });

  test('a read finds nothing if a login without an answer may have replaced the session', async () => {
    user.sessionId = 'another';
    user.isLoginUnsure = true;
    for (let turn = 0; turn < 40; turn += 1) await read(user, app);
    expect(violations()).toEqual([]);
  });
});

describe('messages of an app', () => {
  test('checkSdkUsers finds a password and a token in messages of an app', async () => {
    await read(user, app);
    user.phone.secrets.hear(new Error(`wrong: ${user.password}`));
    user.phone.secrets.hear({ event: 'call_failed', code: await app.auth.accessToken() });
    user.phone.secrets.hear({ event: 'call_failed', code: 'CLIENT_NETWORK' });
    const leak = 'an app of the client has revealed a secret';
    expect(await found(long)).toEqual([leak, leak]);
  });
});

test('a killed app does nothing any more, and the next app goes on from what was stored', async () => {
  await logOut(user, app);
  const login = logIn(user, app).then(() => 'answered');
  killApp(user);
  app = await startApp(user);
  expect(stateOf(user)).toMatchObject({ status: 'signed_out', reason: 'logged_out' });
  await logIn(user, app);
  expect(await Promise.race([login, Promise.resolve('never answered')])).toBe('never answered');
  expect(await found(long)).toEqual([]);
});
