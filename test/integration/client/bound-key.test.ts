import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import type { AuthError } from '@auth-account/client';
import { boundKey, type DeviceKey, type DeviceKeys, memoryKeys, rawSignature } from '@auth-account/client/bound-key';
import { routes } from '@auth-account/contracts';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { password } from '../../support/api/accounts.ts';
import { testIssuer } from '../../support/api/device-key.ts';
import {
  type ClientFixture,
  codeOf,
  noStream,
  openClientFixture,
  type TestApp,
} from '../../support/client/client-fixture.ts';
import { startClientPage } from '../../support/client/client-page.ts';
import { createMemoryStorage } from '../../support/client/memory-storage.ts';
import { createSharedTabs } from '../../support/client/shared-tabs.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

let fixture: ClientFixture;
beforeAll(async () => {
  fixture = await openClientFixture();
});
afterAll(() => fixture.close());

const boundBy = (keys: DeviceKeys | DeviceKey) => ({ ...noStream, boundKey: boundKey(keys, { origin: testIssuer }) });

/** Lets the access token expire on the app's clock. */
const expire = (app: TestApp) => {
  app.clock.monotonic += 3_600_000;
};

/** Calls with an expired access token, and so refreshes. */
const refresh = (app: TestApp) => {
  expire(app);
  return app.client.account.find();
};

async function storedSession(app: TestApp) {
  const state = await app.client.ready();
  const _id = state.status === 'signed_in' ? state.session.session_id : '';
  return fixture.api.collections.sessions.findOne({ _id });
}

describe('a client with a bound key', () => {
  test('a client with a bound key binds its login, and proves every refresh, also after a restart', async () => {
    const app = await fixture.signedIn(boundBy(memoryKeys()));
    expect((await storedSession(app))?.cnf?.jkt).toMatch(/^[\w-]{43}$/);
    for (let round = 0; round < 3; round += 1) await refresh(app);
    const again = app.restart();
    await refresh(again);
    expect((await storedSession(again))?.gen).toBe(5);
    expect((await again.client.sessions.list()).sessions).toMatchObject([{ bound: true }]);
  });

  test('a client with a bound key sends a proof with the requests for tokens, and with no other', async () => {
    const app = await fixture.signedIn(boundBy(memoryKeys()));
    await refresh(app);
    const proven = app.network.sent.filter(({ headers }) => headers.has('DPoP')).map(({ path }) => path);
    expect(proven).toEqual([routes.logIn.path, routes.refreshTokens.path]);
  });

  test.each([1, -1])('a client with a bound key works with a wall clock that is %s day wrong', async (days) => {
    const app = fixture.app(boundBy(memoryKeys()));
    app.clock.wall = days * 86_400_000;
    const email = (await fixture.signedIn(noStream)).email;
    await app.client.logIn({ email, password });
    await refresh(app);
    // The clock changes again, so the first proof of the next refresh is old.
    app.clock.wall = 0;
    await refresh(app);
    expect((await storedSession(app))?.gen).toBe(3);
    expect(app.network.to('/refresh')).toHaveLength(3);
  });

  test('a client with a bound key is not signed out if the service’s time seems wrong again and again', async () => {
    const app = await fixture.signedIn(boundBy(memoryKeys()));
    const refused = JSON.stringify({ error_code: 'IAD_JWT_REFRESH_EXPIRED', message: 'expired', details: {} });
    let requests = 0;
    const again = app.restart({
      fetch: async () => {
        requests += 1;
        const time = new Date(Date.now() + requests * 3_600_000).toUTCString();
        return new Response(refused, { status: 401, headers: { Date: time } });
      },
    });
    expect(await codeOf(again.client.account.find())).toBe('CLIENT_NETWORK');
    expect(again.client.state().status).toBe('signed_in');
    // A lost answer is asked for twice, with three proofs each.
    expect(requests).toBe(6);
  });

  test('a client whose bound key was lost logs in again, without a loop', async () => {
    let keys = memoryKeys();
    const app = await fixture.signedIn(boundBy({ find: () => keys.find(), make: () => keys.make() }));
    const lost = (await storedSession(app))?._id;
    keys = memoryKeys();
    expect(await codeOf(refresh(app))).toBe('IAD_JWT_REFRESH_EXPIRED');
    expect(app.client.state()).toEqual({ status: 'signed_out', reason: 'expired' });
    expect(app.network.to('/refresh')).toHaveLength(1);
    // It was no theft: the session lives on until the next login on the device.
    expect(await fixture.api.collections.sessions.findOne({ _id: lost ?? '' })).toMatchObject({ is_revoked: false });
    await app.client.logIn({ email: app.email, password });
    await refresh(app);
  });

  test('a client stays signed in while its bound key can’t be read', async () => {
    const keys = memoryKeys();
    let isLocked = false;
    const read = async () => {
      if (isLocked) throw new Error('the key store is locked');
    };
    const app = await fixture.signedIn(
      boundBy({ find: () => read().then(keys.find), make: () => read().then(keys.make) }),
    );
    isLocked = true;
    expect(await codeOf(refresh(app))).toBe('CLIENT_STATE_UNKNOWN');
    expect(app.client.state().status).toBe('signed_in');
    isLocked = false;
    await app.client.account.find();
  });

  test('two tabs of a client share its bound key', async () => {
    const options = { ...boundBy(memoryKeys()), ...createSharedTabs() };
    const one = await fixture.signedIn(options);
    const two = fixture.app(options, one.storage);
    await two.client.ready();
    expire(one);
    expire(two);
    await Promise.all([one.client.account.find(), two.client.account.find()]);
    await refresh(two);
    await refresh(one);
    expect((await storedSession(one))?.is_revoked).toBe(false);
  });

  test('a client with a bound key delivers a logout after a restart, for which it must refresh', async () => {
    const app = await fixture.signedIn(boundBy(memoryKeys()));
    const { _id = '' } = (await storedSession(app)) ?? {};
    app.network.isOnline = false;
    await app.client.logOut();
    await app.restart().client.ready();
    const isRevoked = async () => (await fixture.api.collections.sessions.findOne({ _id }))?.is_revoked === true;
    await eventually('the logout is delivered', isRevoked);
  });
});

test('a client with a bound key behind a proxy blames the URL of its proofs, not the user’s input', async () => {
  const proxy = await startClientPage(() => fixture.api.base);
  const baseUrl = proxy.url.replace(/\/$/, '');
  try {
    const { email } = await fixture.signedIn(noStream);
    const app = fixture.app({ ...noStream, baseUrl, boundKey: boundKey(memoryKeys()) });
    const failure = await app.client.logIn({ email, password }).catch((error: AuthError) => error);
    expect(failure).toMatchObject({
      ...{ code: 'CLIENT_PROOF_REFUSED', status: 422, message: 'Something went wrong.', retry: 'never' },
      reaction: { type: 'FIX_REQUEST' },
      details: { fault: expect.stringContaining('htu'), htu: baseUrl + routes.logIn.path },
    });
    expect(app.log).toContainEqual(expect.objectContaining({ event: 'call_failed', code: 'CLIENT_PROOF_REFUSED' }));
    for (const origin of [testIssuer, `${testIssuer}/`]) {
      const named = { baseUrl: `${baseUrl}/prefix`, boundKey: boundKey(memoryKeys(), { origin }) };
      const bound = fixture.app({ ...noStream, ...named });
      await bound.client.logIn({ email, password });
      await refresh(bound);
      expect((await storedSession(bound))?.cnf).toBeDefined();
      expect(await codeOf(bound.client.logIn({ email, password: '' }))).toBe('ERR-VALIDATION-FAILED');
    }
  } finally {
    await proxy.close();
  }
});

// guarantees: bound-session
test('a copy of the storage on another device is signed out there, and does not disturb the owner', async () => {
  const owner = await fixture.signedIn(boundBy(memoryKeys()));
  const ownKeys = memoryKeys();
  await ownKeys.make();
  for (const keys of [ownKeys, memoryKeys()]) {
    const storage = createMemoryStorage();
    for (const [key, value] of owner.storage.content) storage.content.set(key, value);
    const thief = fixture.app(boundBy(keys), storage);
    expect(await codeOf(thief.client.account.find())).toBe('IAD_JWT_REFRESH_EXPIRED');
    expect(thief.client.state()).toEqual({ status: 'signed_out', reason: 'expired' });
  }
  await refresh(owner);
  expect((await storedSession(owner))?.is_revoked).toBe(false);
});

test('an app that is given a key goes on with its unbound session until the next login', async () => {
  const app = await fixture.signedIn(noStream);
  const again = app.restart(boundBy(memoryKeys()));
  await refresh(again);
  expect(again.network.to('/refresh').map(({ headers }) => headers.has('DPoP'))).toEqual([false]);
  await again.client.logIn({ email: app.email, password });
  await refresh(again);
  expect(await storedSession(again)).toHaveProperty('cnf');
});

test('a key store that signs in DER works on a platform without WebCrypto', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key: DeviceKey = {
    jwk: publicKey.export({ format: 'jwk' }) as DeviceKey['jwk'],
    sign: async (bytes) => rawSignature(sign('sha256', bytes, privateKey)),
    digest: async (bytes) => createHash('sha256').update(bytes).digest(),
  };
  const app = await fixture.signedIn(boundBy(key));
  // Lengths of r and s in DER differ from signature to signature.
  for (let round = 0; round < 30; round += 1) await refresh(app);
  expect((await storedSession(app))?.gen).toBe(31);
});
