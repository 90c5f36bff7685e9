import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from '@auth-account/local-stack';
import { createAccessTokenSigner, loadKeyFile } from '@auth-account/tokens';
import { type KeyEntry, publicKeySet } from '@auth-account/verifier/access-token';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { decodeProtectedHeader } from 'jose';
import { logOut, newEmail, newSession, password, registerAccount } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { changeEmail, codeOf, requestReset, stopTokenOf, undoTokenOf } from '../../support/api/codes.ts';
import { addPasskey, passkeyLogin } from '../../support/api/passkeys.ts';
import { demandLink, linkByProof, newPerson } from '../../support/api/providers.ts';
import {
  beginLogin,
  beginTotp,
  codeAt,
  completeLogin,
  guardedAccount,
  orderRemoval,
  stepUpBy,
  stopByToken,
} from '../../support/api/second-factor.ts';
import { stepUp } from '../../support/api/step-up.ts';
import { openTokenFixture, type TokenApi, type TokenFixture } from '../../support/api/token-api.ts';
import { newSigningKey } from '../../support/api/token-forger.ts';
import { logOutRaw, upgradeRaw } from '../../support/api/token-wire.ts';
import {
  type GatewayFixture,
  openGatewayFixture,
  startTestGateway,
  type TestGateway,
} from '../../support/gateway/gateway-fixture.ts';
import type { Answer } from '../../support/http-client.ts';
import { authctlJson } from '../../support/processes/authctl.ts';
import { serviceEnvironment } from '../../support/service-environment.ts';

const hour = 3_600_000;
const kidOf = (token: string) => decodeProtectedHeader(token).kid;
const newSecret = (kid: string): KeyEntry => ({ kty: 'oct', kid, k: randomBytes(32).toString('base64url') });

let dir: string;
let fixture: TokenFixture;

beforeAll(async () => {
  fixture = await openTokenFixture();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'auth-account-keys-'));
});
afterEach(() => rm(dir, { recursive: true }));

/** Returns the public halves in the form that `authctl keys public` writes. */
const publicHalves = (first: KeyEntry, ...others: KeyEntry[]) => publicKeySet({ keys: [first, ...others] }).keys;

/** Replaces the file as a whole, as a mount does. */
async function write(name: string, ...keys: KeyEntry[]): Promise<string> {
  const path = join(dir, name);
  await writeFile(`${path}.new`, JSON.stringify({ keys }));
  await rename(`${path}.new`, path);
  return path;
}

async function publishedKids(api: TokenApi): Promise<string[]> {
  const { json } = await api.listPublicKeys();
  return json.keys.map(({ kid }: { kid: string }) => kid);
}

async function publishedAlgorithms(api: TokenApi): Promise<string[]> {
  const { json } = await api.getOpenidConfiguration();
  return json.access_token_signing_alg_values_supported;
}

const untilPublished = (api: TokenApi, ...kids: string[]) =>
  waitUntil(async () => (await publishedKids(api)).join() === kids.join(), {
    what: `the keys ${kids} to be published`,
    timeoutMs: 60_000,
  });

/** Signs a token as the api would, for a session that does not exist. */
async function signedBy(key: KeyEntry, sid: string = randomUUID()): Promise<string> {
  const settings = { issuer: 'https://auth.local', audience: 'food-storage' } as const;
  const sign = createAccessTokenSigner({ ...settings, keys: { keys: [key] }, ttlSeconds: 600 });
  const group = { home_group_id: randomUUID(), account_type: 'HOME', device_id: randomUUID() } as const;
  return sign({ user_id: randomUUID(), sid, ver: 1, ...group });
}

describe('the keys of access tokens, changed while the api runs', () => {
  // guarantees: key-rotation
  test('a new key of access tokens is published, then signs, and verifies no longer when it has left the file', async () => {
    const [first, second] = [newSigningKey('EdDSA', 'first'), newSigningKey('ES256', 'second')];
    const api = await fixture.start({ ACCESS_TOKEN_KEYS_FILE: await write('access.json', first) });
    const session = await newSession(api);
    let { access_token, refresh_token } = session;
    const refresh = async () => {
      ({ access_token, refresh_token } = (await api.refresh(refresh_token)).json.data);
      return access_token;
    };
    /** 404 means that the token was accepted, but the refresh token in the body is not genuine. */
    const statusWith = async (token: string) => (await logOutRaw(api.base, token)).status;

    await write('access.json', first, second);
    await untilPublished(api, 'first', 'second');
    const former = await refresh();
    expect([kidOf(former), await publishedAlgorithms(api)]).toEqual(['first', ['EdDSA', 'ES256']]);

    await write('access.json', second, first);
    await untilPublished(api, 'second', 'first');
    const latter = await refresh();
    expect(kidOf(latter)).toBe('second');
    expect([await statusWith(former), await statusWith(latter)]).toEqual([404, 404]);

    await write('access.json', newSecret('no signing key'));
    // The unknown kid makes the api read the file, whose content is wrong.
    expect(await statusWith(await signedBy(newSigningKey('ES256', 'third')))).toBe(401);
    expect([await statusWith(former), await statusWith(latter)]).toEqual([404, 404]);

    await write('access.json', second);
    await untilPublished(api, 'second');
    expect([await statusWith(former), await statusWith(latter)]).toEqual([401, 404]);
    await api.close();
  });

  // guarantees: no-private-part-shown
  test('the keys of access tokens are the set that jwks.json shows, without their private parts, cacheable', async () => {
    const keys = [newSigningKey('ES256', 'a'), newSigningKey('EdDSA', 'b'), newSigningKey('ES256', 'c')];
    const file = await write('access.json', ...keys);
    // The setting is for new keys alone.
    const api = await fixture.start({ ACCESS_TOKEN_KEYS_FILE: file, ACCESS_TOKEN_ALGORITHM: 'EdDSA' });
    const { headers, json, text } = await api.listPublicKeys();
    expect(headers['cache-control']).toBe('public, max-age=300');
    expect(json.keys.map(({ kid, alg, kty, crv }: KeyEntry) => [kid, alg, kty, crv])).toEqual([
      ['a', 'ES256', 'EC', 'P-256'],
      ['b', 'EdDSA', 'OKP', 'Ed25519'],
      ['c', 'ES256', 'EC', 'P-256'],
    ]);
    expect(await publishedAlgorithms(api)).toEqual(['ES256', 'EdDSA']);
    for (const { d } of keys) expect(text).not.toContain(d);
    expect(decodeProtectedHeader((await newSession(api)).access_token)).toEqual({
      alg: 'ES256',
      typ: 'at+jwt',
      kid: 'a',
    });
    await api.close();
  });
});

describe('the gateway', () => {
  let gatewayFixture: GatewayFixture;
  let gateway: TestGateway;
  const [first, second] = [newSigningKey('EdDSA', 'first'), newSigningKey('ES256', 'second')];

  afterEach(async () => {
    await gateway.close();
    await gatewayFixture.close();
  });

  async function begin(keyFileIntervalMs: number): Promise<(key: KeyEntry) => Promise<number>> {
    gatewayFixture = await openGatewayFixture();
    const env = { ACCESS_TOKEN_KEYS_FILE: await write('public.json', ...publicHalves(first)) };
    gateway = await startTestGateway(gatewayFixture, env, { keyFileIntervalMs });
    await waitUntil(async () => (await gateway.unreadiness()).length === 0, { what: 'readiness', timeoutMs: 60_000 });
    return async (key) => {
      const sessionId = randomUUID();
      const token = await signedBy(key, sessionId);
      return (await upgradeRaw(gateway.base, { sessionId, token, place: 'header' })).status;
    };
  }

  test('the gateway knows a new first key before it would have read its file again', async () => {
    const upgradeBy = await begin(hour);
    expect(await upgradeBy(first)).toBe(101);
    await write('public.json', ...publicHalves(second, first));
    expect([await upgradeBy(second), await upgradeBy(first)]).toEqual([101, 101]);
  });

  // guarantees: key-rotation
  test('the gateway opens the stream of every login through a rotation in which its file arrives before that of the api', async () => {
    const [copy, publicCopy] = [join(dir, 'copy.json'), join(dir, 'public-copy.json')];
    const keysAt = (...step: string[]) =>
      authctlJson(['keys', ...step, '--file', copy, '--public-file', publicCopy], {});
    const arrive = async (file: string, name: string) => write(name, ...(await loadKeyFile(file)).keys);
    await keysAt('generate', 'access');
    const api = await fixture.start({ ACCESS_TOKEN_KEYS_FILE: await arrive(copy, 'private.json') });
    gatewayFixture = await openGatewayFixture();
    const settings = { ACCESS_TOKEN_KEYS_FILE: await arrive(publicCopy, 'public.json') };
    gateway = await startTestGateway(gatewayFixture, settings, { now: fixture.clock.now, keyFileIntervalMs: 10 });
    await waitUntil(async () => (await gateway.unreadiness()).length === 0, { what: 'readiness', timeoutMs: 60_000 });

    const signers: unknown[] = [];
    const steps = [
      ['rotate', 'access'],
      ['rotate', 'access', '--activate', '--now'],
      ['rotate', 'access', '--prune', '--keep', '0s'],
    ];
    for (const step of steps) {
      await keysAt(...step);
      for (const [file, name] of [
        [publicCopy, 'public.json'],
        [copy, 'private.json'],
      ] as const) {
        await arrive(file, name);
        const { kid: first } = (await loadKeyFile(join(dir, 'private.json'))).keys[0];
        await waitUntil(async () => (await publishedKids(api))[0] === first, {
          what: 'the api to have its file',
          timeoutMs: 60_000,
        });
        const { access_token, session_id } = await newSession(api);
        signers.push(kidOf(access_token));
        const sent = { sessionId: session_id, token: access_token, place: 'header' } as const;
        expect((await upgradeRaw(gateway.base, sent)).status).toBe(101);
      }
    }
    expect(new Set(signers).size).toBe(2);
    expect((await loadKeyFile(join(dir, 'public.json'))).keys).toHaveLength(1);
    await api.close();
  });

  test('the gateway refuses a key that has left its file', async () => {
    const upgradeBy = await begin(10);
    await write('public.json', ...publicHalves(second));
    expect(await upgradeBy(second)).toBe(101);
    await waitUntil(async () => (await upgradeBy(first)) === 401, { what: 'the refusal', timeoutMs: 60_000 });
    expect(await upgradeBy(second)).toBe(101);
  });
});

/** An api that has made something under its server key. */
type Maker = TokenApi & Pick<TokenFixture, 'collections'>;

/** Things that an api makes under its server key, each with the request that shows it to any api. */
const made: [string, (by: Maker) => Promise<(on: TokenApi) => Promise<Answer>>][] = [
  [
    'a challenge of a login',
    async (by) => {
      const { authenticator } = await addPasskey(by, await newSession(by));
      const body = await passkeyLogin(by, authenticator);
      return (on) => on.logInByPasskey(body);
    },
  ],
  [
    'a challenge of a second factor',
    async (by) => {
      const { email, secret } = await guardedAccount(by, fixture.clock.now());
      const challenge_id = await beginLogin(by, email);
      return (on) => completeLogin(on, challenge_id, { code: codeAt(secret, fixture.clock.now(), 1) });
    },
  ],
  [
    'a challenge of a link',
    async (by) => {
      const person = newPerson({ email: (await registerAccount(by)).email });
      // The provider signs at the time that the apis know, which stands still.
      const { link_challenge_id } = await demandLink(by, { ...person, iat: Math.floor(fixture.clock.now() / 1_000) });
      return (on) => linkByProof(on, link_challenge_id, { password });
    },
  ],
  [
    'a step-up token',
    async (by) => {
      const session = await newSession(by);
      const body = { step_up_token: await stepUp(by, session, 'export') };
      return (on) => on.exportAccount(body, bearer(session));
    },
  ],
  [
    'a seed that new recovery codes need',
    async (by) => {
      const session = await guardedAccount(by, fixture.clock.now());
      const code = codeAt(session.secret, fixture.clock.now(), 1);
      const body = { step_up_token: await stepUpBy(by, session, 'recovery_codes', code) };
      return (on) => on.createRecoveryCodes(body, bearer(session));
    },
  ],
  [
    'a seed of a new app',
    async (by) => {
      const session = await newSession(by);
      const { factor_id, secret } = await beginTotp(by, session);
      const body = { factor_id, code: codeAt(secret, fixture.clock.now()) };
      return (on) => on.confirmTotp(body, bearer(session));
    },
  ],
  [
    'a mailed code',
    async (by) => {
      const challenge_id = await requestReset(by, (await registerAccount(by)).email);
      const body = { challenge_id, code: await codeOf(by, challenge_id), new_password: 'three wrong staples' };
      return (on) => on.confirmPasswordReset(body);
    },
  ],
  [
    'a token that undoes a change of the email address',
    async (by) => {
      const session = await newSession(by);
      await changeEmail(by, session, newEmail());
      const undo_token = await undoTokenOf(by, session.user_id);
      return (on) => on.undoEmailChange({ undo_token });
    },
  ],
  [
    'a token that stops a removal',
    async (by) => {
      const { email, user_id } = await guardedAccount(by, fixture.clock.now());
      await orderRemoval(by, email);
      const stop_token = await stopTokenOf(by, user_id);
      return (on) => stopByToken(on, stop_token);
    },
  ],
];

// guarantees: unknown-key-503
test.each(made)(
  '%s under a server key that has not arrived gets 503, uses nothing up, and counts later',
  async (_, make) => {
    const keys = await loadKeyFile(serviceEnvironment('').SERVER_KEYS_FILE ?? '');
    const [latter, elder] = [await fixture.start(), newSecret('elder')];
    const former = await fixture.start({ SERVER_KEYS_FILE: await write('former.json', elder) });
    const send = await make({ ...latter, collections: fixture.collections });
    for (let tries = 0; tries < 11; tries += 1) {
      const { status, json, headers } = await send(former);
      expect([status, json.error_code, headers['retry-after']]).toEqual([503, 'ERR-DEPENDENCY-UNAVAILABLE', '2']);
    }
    await write('former.json', elder, ...keys.keys);
    await waitUntil(async () => (await send(former)).status === 200, { what: 'the key to come', timeoutMs: 60_000 });
    await Promise.all([former.close(), latter.close()]);
  },
);

test('a challenge under a key that no api holds is one that nobody has made, and no outage', async () => {
  const api = await fixture.start();
  const challenge_id = `made-up.${randomBytes(64).toString('base64url')}`;
  const { status, json } = await completeLogin(api, challenge_id, { code: '123456' });
  expect([status, json.error_code]).toEqual([410, 'ERR-CODE-EXPIRED']);
  await api.close();
});

describe('a rotation of the keys of refresh tokens', () => {
  const [elder, newer] = [newSecret('elder'), newSecret('newer')];
  const documentKid = async (_id: string) => (await fixture.collections.sessions.findOne({ _id }))?.kid;

  test('sessions of an api with the old refresh token key are taken over by one with the new key', async () => {
    const former = await fixture.start({ REFRESH_TOKEN_KEYS_FILE: await write('former.json', elder) });
    const latter = await fixture.start({ REFRESH_TOKEN_KEYS_FILE: await write('latter.json', newer, elder) });
    const { refresh_token, session_id } = await newSession(former);
    const lost = await latter.refresh(refresh_token);
    expect([lost.status, await documentKid(session_id)]).toEqual([200, 'newer']);
    fixture.clock.pass(hour);
    const found = await latter.refresh(refresh_token);
    const next = await latter.refresh(found.json.data.refresh_token);
    expect([found.status, next.status]).toEqual([200, 200]);
    await Promise.all([former.close(), latter.close()]);
  });

  // guarantees: unknown-key-503
  test('an api that has not got the new refresh token key yet answers 503, and no session ends', async () => {
    const former = await fixture.start({ REFRESH_TOKEN_KEYS_FILE: await write('former.json', elder) });
    const latter = await fixture.start({ REFRESH_TOKEN_KEYS_FILE: await write('latter.json', newer, elder) });
    const session = await newSession(former);
    const { refresh_token } = session;
    const lost = (await latter.refresh(refresh_token)).json.data.refresh_token;
    // The last request is a logout with the token that the app still has. 404 would mean that the session is dead.
    for (const ask of [
      () => former.refresh(lost),
      () => former.refresh(refresh_token),
      () => logOut(former, session),
    ]) {
      const answer = await ask();
      expect([answer.status, answer.headers['retry-after']]).toEqual([503, '2']);
    }
    await write('former.json', newer, elder);
    // The key source reads the file at every poll, and otherwise at most once a second.
    await waitUntil(async () => (await former.refresh(refresh_token)).status === 200, {
      what: 'the key to come',
      timeoutMs: 60_000,
    });
    expect((await former.refresh(lost)).status).toBe(200);
    expect((await logOut(former, session)).status).toBe(200);
    await Promise.all([former.close(), latter.close()]);
  });

  test('a refresh token key that was taken away ends its sessions, five minutes later at most', async () => {
    const latter = await fixture.start({ REFRESH_TOKEN_KEYS_FILE: await write('latter.json', newer) });
    const { refresh_token } = await newSession(latter);
    await write('latter.json', elder);
    await waitUntil(async () => (await latter.refresh(refresh_token)).status !== 200, {
      what: 'the key to go',
      timeoutMs: 60_000,
    });
    fixture.clock.pass(5 * 60_000 + 1);
    const { status, json } = await latter.refresh(refresh_token);
    expect([status, json.error_code]).toEqual([401, 'IAD_JWT_REFRESH_EXPIRED']);
    await latter.close();
  });

  // guarantees: key-rotation
  test('a refresh token key that rotates file by file, first behind the old one, ends no session', async () => {
    const files = [await write('a.json', elder), await write('b.json', elder)] as const;
    const [a, b] = [
      await fixture.start({ REFRESH_TOKEN_KEYS_FILE: files[0] }),
      await fixture.start({ REFRESH_TOKEN_KEYS_FILE: files[1] }),
    ];
    const sessions = await Promise.all([newSession(a), newSession(b), newSession(a)]);
    const held = sessions.map(({ refresh_token }) => refresh_token);
    const apis = [a, b];
    /** Each session refreshes at each api in turn, and every other answer is lost. */
    const refreshAll = async () => {
      for (const api of [...apis, ...apis]) {
        for (const [i, token] of held.entries()) {
          const answer = await api.refresh(token);
          expect([answer.status, answer.json.error_code]).toEqual([200, undefined]);
          if (Math.random() < 0.5) held[i] = answer.json.data.refresh_token;
        }
        fixture.clock.pass(hour);
      }
    };
    /** Waits until the api uses the key, which a new session shows. */
    const untilUsed = (api: TokenApi, kid: string) =>
      waitUntil(
        async () => {
          const probe = await newSession(api);
          return (await documentKid(probe.session_id)) === kid;
        },
        { what: `${kid} to be used`, timeoutMs: 60_000 },
      );

    await refreshAll();
    for (const name of ['a.json', 'b.json']) {
      await write(name, elder, newer);
      await refreshAll();
    }
    for (const [name, api] of [['a.json', a] as const, ['b.json', b] as const]) {
      await write(name, newer, elder);
      await untilUsed(api, 'newer');
      await refreshAll();
    }
    for (const { session_id } of sessions) expect(await documentKid(session_id)).toBe('newer');
    await Promise.all([a.close(), b.close()]);
  });
});
