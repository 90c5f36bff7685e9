import { createAuthClient } from '@auth-account/client';
import { secondFactor } from '@auth-account/client/second-factor';
import { createFakeService, mailedCode, memoryStorage } from '@auth-account/client/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newEmail, password } from '../../support/api/accounts.ts';
import { codeOf as mailedCodeOf, stopTokenOf } from '../../support/api/codes.ts';
import { codeAt } from '../../support/api/second-factor.ts';
import {
  type ClientFixture,
  openClientFixture,
  codeOf as refusalOf,
  type TestApp,
} from '../../support/client/client-fixture.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

let fixture: ClientFixture;
beforeAll(async () => {
  fixture = await openClientFixture();
});
afterAll(() => fixture.close());

const removals = ({ events }: TestApp) =>
  events.filter((event) => event.type === 'second_factor' && event.status === 'removal').length;

/** Orders the removal from a device on which nobody is signed in. Returns its time. */
async function order(email: string): Promise<string> {
  const { secondFactor } = fixture.app({ stream: false }).client;
  const { challenge_id } = await secondFactor.requestRemoval({ email });
  const code = await mailedCodeOf(fixture.api, challenge_id);
  return (await secondFactor.confirmRemoval({ challenge_id, code })).due_at;
}

/** A signed-in app whose second factor is on. */
async function guardedApp(options?: Parameters<ClientFixture['signedIn']>[0]) {
  const app = await fixture.signedIn(options);
  const { secondFactor } = app.client;
  const { factor_id, secret } = await secondFactor.createTotp({ current_password: password });
  const { recovery_codes } = await secondFactor.confirmTotp({ factor_id, code: codeAt(secret) });
  return { ...app, recovery: { method: 'recovery_code', code: recovery_codes[0] ?? '' } as const };
}

test('an app that is signed in learns of a removal at once, and can stop it', async () => {
  const app = await guardedApp();
  const { secondFactor } = app.client;
  expect([(await secondFactor.find()).removal, secondFactor.removal()]).toEqual([null, undefined]);
  await eventually('the stream is open', () => app.client.stream.isOpen());

  const due_at = await order(app.email);
  await eventually('the app knows', () => secondFactor.removal()?.due_at === due_at);
  await secondFactor.stopRemoval();
  expect([secondFactor.removal(), (await secondFactor.find()).removal]).toEqual([undefined, null]);
  expect(removals(app)).toBe(2);

  await order(app.email);
  await eventually('the app knows', () => secondFactor.removal() !== undefined);
  const user = await fixture.api.collections.users.findOne({ email: app.email });
  await secondFactor.stopRemovalByToken({ stop_token: await stopTokenOf(fixture.api, user?._id ?? '') });
  await eventually('the app knows that it is stopped', () => secondFactor.removal() === undefined);
});

test('an app that had no stream learns of a removal when it asks for the factors, and forgets it when signed out', async () => {
  const app = await guardedApp({ stream: false });
  const { secondFactor } = app.client;
  const due_at = await order(app.email);
  expect(secondFactor.removal()).toBeUndefined();
  await secondFactor.find();
  expect(secondFactor.removal()).toEqual({ due_at });
  await app.client.logOut();
  await eventually('it is forgotten', () => secondFactor.removal() === undefined);
});

describe('a removal that was ordered while the app was not there', () => {
  test('a removal ordered while the app was away is known once the stream is open again', async () => {
    const app = await guardedApp();
    await eventually('the stream is open', () => app.client.stream.isOpen());
    app.sockets.isRefused = true;
    app.sockets.cut();
    await eventually('the stream is closed', () => !app.client.stream.isOpen());
    const due_at = await order(app.email);
    app.sockets.isRefused = false;
    await eventually('the app knows', () => app.client.secondFactor.removal()?.due_at === due_at);
    expect(removals(app)).toBe(1);
  });

  test('a removal ordered while the app was away is known after a start, and after a login', async () => {
    const app = await guardedApp({ stream: false });
    const due_at = await order(app.email);
    const { client } = app.restart({ stream: true });
    await eventually('the started app knows', () => client.secondFactor.removal()?.due_at === due_at);
    await client.logOut();
    await eventually('it is forgotten', () => client.secondFactor.removal() === undefined);
    expect(await refusalOf(client.logIn({ email: app.email, password }))).toBe('ERR-SECOND-FACTOR-REQUIRED');
    await client.secondFactor.confirm(app.recovery);
    await eventually('the app knows after the login', () => client.secondFactor.removal()?.due_at === due_at);
  });

  test('a removal is forgotten if it is stopped while the app looks', async () => {
    const app = await guardedApp({ stream: false });
    await order(app.email);
    const { secondFactor } = app.client;
    app.network.plan('/account/factors', 'answer_held');
    const found = secondFactor.find();
    await eventually('the answer is held', () => app.network.held() === 1);
    await secondFactor.stopRemoval();
    app.network.release();
    expect([(await found).removal, secondFactor.removal()]).toEqual([expect.anything(), undefined]);
  });
});

test('a test of an app can order and stop a removal with the fake service', async () => {
  const auth = createAuthClient({ ...createFakeService(), storage: memoryStorage(), groups: [secondFactor] });
  const email = newEmail();
  await auth.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
  await auth.logIn({ email, password });
  const { factor_id } = await auth.secondFactor.createTotp({ current_password: password });
  await auth.secondFactor.confirmTotp({ factor_id, code: '123456' });
  const { challenge_id } = await auth.secondFactor.requestRemoval({ email });
  const confirm = (code: string) => auth.secondFactor.confirmRemoval({ challenge_id, code });
  await expect(confirm('00000000')).rejects.toMatchObject({ code: 'ERR-CODE-INVALID' });
  const { due_at } = await confirm(mailedCode);
  expect([(await auth.secondFactor.find()).removal, auth.secondFactor.removal()]).toEqual([{ due_at }, { due_at }]);
  await auth.secondFactor.stopRemoval();
  expect((await auth.secondFactor.find()).removal).toBeNull();
  auth.close();
});
