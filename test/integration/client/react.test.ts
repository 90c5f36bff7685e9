import { createAuthClient, type SessionInfo } from '@auth-account/client';
import { federated } from '@auth-account/client/federated';
import { createAuthHooks } from '@auth-account/client/react';
import { secondFactor } from '@auth-account/client/second-factor';
import { createFakeService, fakeIdToken, memoryStorage } from '@auth-account/client/testing';
import { expect, test } from '@jest/globals';
import * as React from 'react';
import { act, create, type ReactTestRenderer } from 'react-test-renderer';
import { newEmail, password } from '../../support/api/accounts.ts';
import { createMemoryStorage } from '../../support/client/memory-storage.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

test('React draws each state once, and hears the messages of a topic', async () => {
  const service = createFakeService();
  const auth = createAuthClient({ ...service, storage: memoryStorage() });
  const { useAuth, useStream } = createAuthHooks(React, auth);
  const payloads: unknown[] = [];
  const hear = (payload: unknown) => payloads.push(payload);
  const devices: unknown[] = [];
  const hearDevice = (payload: unknown) => devices.push(payload);
  let draws = 0;

  function Screen(): string {
    draws += 1;
    useStream('inventory.item.changed', hear);
    useStream('security.new_device', hearDevice);
    const state = useAuth();
    return state.status === 'signed_out' ? `signed_out: ${state.reason}` : state.status;
  }

  const email = newEmail();
  await auth.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
  let screen: ReactTestRenderer | undefined;
  await act(async () => {
    screen = create(React.createElement(Screen));
  });
  expect(screen?.toJSON()).toBe('signed_out: no_session');
  expect(draws).toBe(1);

  const loggedIn: SessionInfo[] = [];
  await act(async () => {
    loggedIn.push(await auth.logIn({ email, password }));
  });
  const { session_id = '', home_group_id = '' } = loggedIn[0] ?? {};
  expect(screen?.toJSON()).toBe('signed_in');
  expect(draws).toBe(2);
  await eventually('the stream is open', async () => auth.stream.isOpen());
  await act(async () => {
    service.push(home_group_id, 'inventory.item.changed', { item_id: 'milk' });
    service.push(home_group_id, 'another.topic', {});
  });
  expect(payloads).toEqual([{ item_id: 'milk' }]);
  await act(async () => service.push(home_group_id, 'security.new_device', { device_name: 'a phone' }));
  expect(devices).toEqual([{ device_name: 'a phone' }]);

  await act(async () => {
    service.endSession(session_id, 'password_changed');
    await eventually('the client knows', async () => auth.state().status === 'signed_out');
  });
  expect(screen?.toJSON()).toBe('signed_out: password_changed');
  await act(async () => screen?.unmount());
  auth.close();
});

test('the guard shows a splash screen until the storage was read, then what the state calls for', async () => {
  const service = createFakeService();
  const storage = createMemoryStorage();
  storage.isLocked = true;
  const auth = createAuthClient({ ...service, storage });
  const { AuthGuard } = createAuthHooks(React, auth);
  let screen: ReactTestRenderer | undefined;
  await act(async () => {
    screen = create(
      React.createElement(AuthGuard<string, string, string>, {
        children: 'app',
        signedOut: 'login',
        unknown: 'splash',
      }),
    );
  });
  expect(screen?.toJSON()).toBe('splash');
  storage.isLocked = false;
  await act(async () => {
    await auth.ready();
  });
  expect(screen?.toJSON()).toBe('login');
  const email = newEmail();
  await act(async () => {
    await auth.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
    await auth.logIn({ email, password });
  });
  expect(screen?.toJSON()).toBe('app');
  await act(async () => auth.logOut());
  expect(screen?.toJSON()).toBe('login');
  await act(async () => screen?.unmount());
  auth.close();
});

test('the guard offers to begin anew while the storage cannot be read, if the app has a screen for that', async () => {
  const service = createFakeService();
  const storage = memoryStorage();
  const first = createAuthClient({ ...service, storage });
  const email = newEmail();
  await first.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
  await first.logIn({ email, password });
  first.close();
  storage.damage(false);
  const auth = createAuthClient({ ...service, storage });
  const { AuthGuard } = createAuthHooks(React, auth);
  const props = { children: 'app', signedOut: 'login', unknown: 'splash', unreadable: 'begin anew' };
  let screen: ReactTestRenderer | undefined;
  await act(async () => {
    screen = create(React.createElement(AuthGuard<string, string, string>, props));
  });
  expect(screen?.toJSON()).toBe('begin anew');
  await act(async () => auth.forget());
  expect(screen?.toJSON()).toBe('login');
  await act(async () => void (await auth.logIn({ email, password })));
  expect(screen?.toJSON()).toBe('app');
  await act(async () => screen?.unmount());
  auth.close();
});

test('a removal of the second factor is shown while it is ordered', async () => {
  const service = createFakeService();
  const auth = createAuthClient({ ...service, storage: memoryStorage(), groups: [secondFactor] });
  const { useSecondFactorRemoval } = createAuthHooks(React, auth);
  const Screen = () => useSecondFactorRemoval()?.due_at ?? 'none';
  const email = newEmail();
  await auth.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
  const { home_group_id } = await auth.logIn({ email, password });
  let screen: ReactTestRenderer | undefined;
  await act(async () => {
    screen = create(React.createElement(Screen));
  });
  await eventually('the stream is open', async () => auth.stream.isOpen());
  for (const due_at of ['2026-12-01T10:00:00.000Z', null]) {
    await act(async () => service.push(home_group_id, 'security.second_factor_removal', { due_at }));
    expect(screen?.toJSON()).toBe(due_at ?? 'none');
  }
  await act(async () => screen?.unmount());
  auth.close();
});

test('a person whom a provider has named has a screen of their own, until they are logged in', async () => {
  const service = createFakeService();
  const auth = createAuthClient({ ...service, storage: memoryStorage(), groups: [federated] });
  const { AuthGuard, useFederated } = createAuthHooks(React, auth);
  const Person = () => useFederated()?.needs ?? 'none';
  const props = { children: 'app', signedOut: 'login', federated: React.createElement(Person) };
  let screen: ReactTestRenderer | undefined;
  await act(async () => {
    screen = create(React.createElement(AuthGuard<string, string, null, string, React.ReactNode>, props));
  });
  const email = newEmail();
  const logIn = (sub: string) =>
    act(async () => {
      const { challenge_id } = await auth.federated.challenge();
      const token = { challenge_id, id_token: fakeIdToken({ sub, email }) };
      await auth.federated.logInWith('google', token).catch(() => undefined);
    });
  await logIn('1');
  expect(screen?.toJSON()).toBe('registration');
  await act(async () => auth.federated.giveUp());
  expect(screen?.toJSON()).toBe('login');
  await auth.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
  await logIn('1');
  expect(screen?.toJSON()).toBe('link');
  await act(async () => {
    await auth.federated.logInAndLink({ password: 'wrong' }).catch(() => undefined);
  });
  expect(screen?.toJSON()).toBe('link');
  await act(async () => {
    await auth.federated.logInAndLink({ password });
  });
  expect(screen?.toJSON()).toBe('app');
  await act(async () => screen?.unmount());
  auth.close();
});

test('a login that waits for the second factor has a screen of its own', async () => {
  const service = createFakeService();
  const auth = createAuthClient({ ...service, storage: memoryStorage(), groups: [secondFactor] });
  const { AuthGuard, useSecondFactor } = createAuthHooks(React, auth);
  const Factor = () => useSecondFactor()?.methods.join() ?? 'none';
  const props = { children: 'app', signedOut: 'login', secondFactor: React.createElement(Factor) };
  let screen: ReactTestRenderer | undefined;
  await act(async () => {
    screen = create(React.createElement(AuthGuard<string, string, null, React.ReactNode>, props));
  });
  const email = newEmail();
  const logIn = () => act(async () => auth.logIn({ email, password }).then(undefined, () => undefined));
  await auth.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
  service.secondFactorCode = '123456';
  await logIn();
  expect(screen?.toJSON()).toBe('totp');
  await act(async () => auth.secondFactor.giveUp());
  expect(screen?.toJSON()).toBe('login');
  await logIn();
  await act(async () => {
    await auth.secondFactor.confirm({ method: 'totp', code: '000000' }).catch(() => undefined);
  });
  expect(screen?.toJSON()).toBe('totp');
  await act(async () => {
    await auth.secondFactor.confirm({ method: 'totp', code: '123456', trust_device: true });
  });
  expect(screen?.toJSON()).toBe('app');
  await act(async () => auth.logOut());
  expect(screen?.toJSON()).toBe('login');
  await logIn();
  expect(screen?.toJSON()).toBe('app');
  await act(async () => screen?.unmount());
  auth.close();
});
