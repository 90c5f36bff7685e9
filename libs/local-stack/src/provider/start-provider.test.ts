import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createRemoteJWKSet, generateKeyPair, jwtVerify, SignJWT } from 'jose';
import { startProvider } from './start-provider.ts';

let provider: Awaited<ReturnType<typeof startProvider>>;
let secret: string;

beforeAll(async () => {
  provider = await startProvider();
  const { privateKey } = await generateKeyPair('ES256');
  secret = await new SignJWT({ iss: 'team', sub: 'app', aud: provider.issuer })
    .setIssuedAt()
    .setExpirationTime('5m')
    .setProtectedHeader({ alg: 'ES256', kid: 'key' })
    .sign(privateKey);
});
afterAll(() => provider.close());

const ask = (change: object = {}) =>
  `authorize?${new URLSearchParams({
    ...{ client_id: 'app', response_type: 'code id_token', redirect_uri: 'http://localhost:1/back' },
    ...{ nonce: 'the nonce', state: '7', login_hint: 'cook@example.com"><b>', ...change },
  })}`;

async function post(path: string, form: Record<string, string>) {
  const body = new URLSearchParams(form);
  const answer = await fetch(`${provider.issuer}/${path}`, { method: 'POST', body, redirect: 'manual' });
  return { status: answer.status, location: answer.headers.get('Location') ?? '', text: await answer.text() };
}

test('the provider’s page proposes the email address, and sends the browser back with a token and a code', async () => {
  const page = await fetch(`${provider.issuer}/${ask()}`);
  expect(await page.text()).toContain('value="cook@example.com&quot;&gt;&lt;b&gt;"');
  const { status, location } = await post(ask(), { email: 'Cook@example.com', name: 'Anna' });
  const { origin, pathname, hash } = new URL(location);
  expect([status, origin, pathname]).toEqual([303, 'http://localhost:1', '/back']);
  const given = new URLSearchParams(hash.slice(1));
  const keys = createRemoteJWKSet(new URL(provider.jwksUri));
  const { payload } = await jwtVerify(given.get('id_token') ?? '', keys, { issuer: provider.issuer, audience: 'app' });
  expect(payload).toMatchObject({ nonce: 'the nonce', email: 'Cook@example.com', email_verified: true, name: 'Anna' });
  const exchange = (change: object = {}) => {
    const form = { grant_type: 'authorization_code', code: given.get('code') ?? '', client_id: 'app' };
    return post('token', { ...form, redirect_uri: 'http://localhost:1/back', client_secret: secret, ...change });
  };
  expect(await exchange({ client_id: 'other' })).toMatchObject({ status: 400, text: '{"error":"invalid_client"}' });
  const tokens = JSON.parse((await exchange()).text);
  expect((await jwtVerify(tokens.id_token, keys)).payload.sub).toBe(payload.sub);
  expect(await exchange()).toMatchObject({ status: 400, text: '{"error":"invalid_grant"}' });
  const revocation = { client_id: 'app', client_secret: secret, token: tokens.refresh_token };
  expect((await post('revoke', { ...revocation, client_secret: 'none' })).status).toBe(400);
  expect((await post('revoke', revocation)).status).toBe(200);
  expect(provider.revoked()).toEqual([tokens.refresh_token]);
});

test.each(['https://localhost/back', 'http://elsewhere.example/', 'http://localhost:1/#a', 'javascript:0', ''])(
  'the provider’s page refuses to redirect to %p',
  async (redirect_uri) => {
    const { status, location } = await post(ask({ redirect_uri }), { email: 'cook@example.com' });
    expect([status, location]).toEqual([400, '']);
  },
);

test('the provider names its endpoints, and fails when it is set to', async () => {
  const found = await fetch(`${provider.issuer}/.well-known/openid-configuration`);
  const revocation_endpoint = `${provider.issuer}/revoke`;
  expect(await found.json()).toMatchObject({
    issuer: provider.issuer,
    jwks_uri: provider.jwksUri,
    revocation_endpoint,
  });
  provider.behave({ status: 503 }, 'revoke');
  expect((await post('revoke', {})).status).toBe(503);
  provider.behave({}, 'revoke');
  expect((await post('revoke', {})).status).toBe(400);
});
