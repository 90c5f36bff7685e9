import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { waitUntil } from '@auth-account/local-stack';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { logIn, password, registerAccount } from '../support/accounts.ts';
import { type HoldingProxy, startHoldingProxy } from '../support/holding-proxy.ts';
import { testEnvironment } from '../support/test-api.ts';
import { openTokenScene, type TokenApi, type TokenScene } from '../support/token-api.ts';

let scene: TokenScene;
let api: TokenApi;
let proxy: HoldingProxy;
/** Another process of the api, whose answers from MongoDB can be held back. */
let slow: TokenApi;

beforeAll(async () => {
  scene = await openTokenScene();
  api = await scene.start();
  proxy = await startHoldingProxy(Number(new URL(testEnvironment().mongodbUri).port));
  const { port } = new URL(proxy.url);
  slow = await scene.start({ MONGODB_URI: `mongodb://127.0.0.1:${port}/?directConnection=true` });
});
afterAll(async () => {
  await scene.close();
  await proxy.close();
});

/** The slow api takes the request up and waits for MongoDB; its client goes away; `meanwhile` runs; MongoDB answers. */
async function abandon(path: string, body: object, meanwhile: () => Promise<void>): Promise<void> {
  proxy.hold('find');
  const headers = { 'Content-Type': 'application/json', 'X-Request-ID': 'abandoned-1' };
  const request = httpRequest(slow.base + path, { method: 'POST', headers, agent: false });
  request.on('error', () => undefined); // it is given up
  request.end(JSON.stringify(body));
  await waitUntil(async () => proxy.held() > 0, { what: 'a question to MongoDB', timeoutMs: 5_000, intervalMs: 5 });
  request.destroy();
  await meanwhile();
  proxy.release();
}

/** What the slow api was asked before is through once it has answered something of the same kind that came later. */
async function letTheSlowOneEnd(email: string): Promise<void> {
  for (let each = 0; each < 3; each += 1) await logIn(slow, email);
}

test('a login that its app has given up does not take the place of the login that followed', async () => {
  const { email } = await registerAccount(api);
  const device_id = randomUUID();
  let refreshToken = '';
  await abandon('/api/v1/auth/login', { email, password, device_id }, async () => {
    refreshToken = (await logIn(api, email, { device_id })).refresh_token;
  });
  await letTheSlowOneEnd(email);
  expect(await api.refresh(refreshToken)).toMatchObject({ status: 200 });
});

test('a refresh that its app has given up is no theft when it is carried out after the next ones', async () => {
  const { email } = await registerAccount(api);
  const { refresh_token } = await logIn(api, email);
  let newest = '';
  await abandon('/api/v1/auth/refresh', { refresh_token }, async () => {
    const second = (await api.refresh(refresh_token)).json.data.refresh_token;
    const third = (await api.refresh(second)).json.data.refresh_token;
    newest = (await api.refresh(third)).json.data.refresh_token;
  });
  await letTheSlowOneEnd(email);
  expect(await api.refresh(newest)).toMatchObject({ status: 200 });
});

test('a void token whose client waits for the answer is theft as before', async () => {
  const { email } = await registerAccount(api);
  const { refresh_token } = await logIn(api, email);
  const second = (await api.refresh(refresh_token)).json.data.refresh_token;
  const third = (await api.refresh(second)).json.data.refresh_token;
  expect((await api.refresh(refresh_token)).json.error_code).toBe('IAD_JWT_REFRESH_STOLEN');
  expect((await api.refresh(third)).status).toBe(401);
});
