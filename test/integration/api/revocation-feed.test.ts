import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { failFastOptions, openRedis, type RedisClient, redisKeys } from '@auth-account/redis';
import { createLogger } from '@auth-account/telemetry';
import { generateSecretKey, loadKeyFile } from '@auth-account/tokens';
import type { KeyEntry } from '@auth-account/verifier/access-token';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { logOut, newSession } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { completeDenyListOf } from '../../support/gateway/gateway-fixture.ts';
import { testEnvironment, uniqueName } from '../../support/test-environment.ts';
import { internalServiceCredential, internalServiceSecretsFile } from '../../support/verifier/internal-services.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

const path = '/api/v1/revocations';
const nonce = 'Zq3v1p8mXo2c7Jt5kW9rYA';

let api: TestApi;
let redis: RedisClient;
let credential: string;
const logged: string[] = [];

beforeAll(async () => {
  const logger = createLogger({ service: 'api', level: 'trace', destination: { write: (line) => logged.push(line) } });
  api = await startTestApi({}, {}, logger);
  redis = openRedis({ REDIS_URL: testEnvironment().redisUrl }, { ...failFastOptions(), enableOfflineQueue: true });
  await completeDenyListOf(api.keyPrefix);
  credential = internalServiceCredential();
});
afterAll(async () => {
  redis.disconnect();
  for (const one of [...others, api]) await one.close();
});

const others: TestApi[] = [];
/** Starts an api that is closed after the tests. */
async function start(env: Readonly<Record<string, string>>): Promise<TestApi> {
  const started = await startTestApi(env);
  others.push(started);
  return started;
}

const askOf = (on: TestApi, body: object = { nonce }, shown: string | undefined = credential) =>
  on.readRevocations(body, shown === undefined ? {} : bearer(shown));
const statementOf = async (body: object, shown = credential) =>
  (await askOf(api, body, shown)).json.data.statement as string;

describe('a statement of revocations', () => {
  // guarantees: resource-server-rights
  test('a statement of revocations answers one question of one internal service, and is no access token', async () => {
    const session = await newSession(api);
    await logOut(api, session);
    const first = await statementOf({ nonce });
    const claims = decodeJwt(first);
    expect(decodeProtectedHeader(first)).toEqual({ alg: 'ES256', typ: 'revocations+jwt', kid: expect.any(String) });
    expect(claims).toEqual({
      iss: 'https://auth.local',
      aud: 'revocations:pantry',
      iat: expect.any(Number),
      nonce,
      since: '',
      cursor: expect.any(String),
      more: false,
      revoked: expect.arrayContaining([session.session_id]),
      below: {},
    });
    const asToken = await api.findAccount(bearer(first));
    expect([asToken.status, asToken.json.error_code]).toEqual([401, 'IAD_JWT_ACCESS_INVALID']);
    const next = decodeJwt(
      await statementOf({ nonce: 'C'.repeat(22), cursor: claims.cursor }, internalServiceCredential('recipes')),
    );
    expect(next).toMatchObject({ aud: 'revocations:recipes', nonce: 'C'.repeat(22), since: claims.cursor });
  });

  test('a statement of revocations is short if nothing is new, and never stored on its way', async () => {
    const keys = redisKeys(api.keyPrefix);
    const ids = Array.from({ length: 5_001 }, (_, i) => `long-ago-${i}`);
    const pipeline = redis.pipeline();
    for (const [i, id] of ids.entries()) {
      pipeline.set(keys.denied(id), 'none:SESSION_REVOKED', 'PX', 600_000);
      pipeline.zadd(keys.revocations, 1_000 + i, id);
    }
    await pipeline.exec();
    const first = decodeJwt(await statementOf({ nonce }));
    expect([first.more, (first.revoked as string[]).length]).toEqual([true, 5_000]);
    const second = decodeJwt(await statementOf({ nonce, cursor: first.cursor }));
    expect(second.more).toBe(false);
    expect(second.revoked).toContain(ids.at(-1));
    await eventually('the last second to be over', async () => {
      const answer = await askOf(api, { nonce, cursor: second.cursor });
      expect(answer.headers['cache-control']).toBe('no-store');
      return answer.text.length < 1_000;
    });
    await redis.del(ids.map(keys.denied));
    await redis.zrem(keys.revocations, ids);
  });
});

describe('a hostile internal service', () => {
  test.each<[string, () => string | undefined | Promise<string | undefined>]>([
    ['no secret', () => ''],
    ['a wrong secret', () => `pantry.1.${'A'.repeat(43)}`],
    ['a part of its secret', () => credential.slice(0, -1)],
    ['more than its secret', () => `${credential}A`],
    ['its secret by another name', () => credential.replace('pantry.1', 'recipes')],
    ['a name that nobody has', () => credential.replace('pantry', 'nobody')],
    ['a secret without a name', () => credential.split('.').at(-1)],
    ['a word that every object has', () => `constructor.${'A'.repeat(43)}`],
    ['an endless secret', () => `pantry.1.${'A'.repeat(10_000)}`],
    ['an access token', async () => (await newSession(api)).access_token],
  ])('an internal service with %s gets 401 and learns nothing', async (_what, shown) => {
    const answer = await askOf(api, { nonce }, await shown());
    expect([answer.status, answer.json.error_code]).toEqual([401, 'ERR-INVALID-CREDENTIALS']);
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
  });

  // guarantees: resource-server-rights
  test('an internal service reaches nothing else by its secret', async () => {
    const headers = bearer(credential);
    const answer = await api.findAccount(headers);
    expect([answer.status, answer.json.error_code]).toEqual([401, 'IAD_JWT_ACCESS_INVALID']);
  });

  test.each<[string, object]>([
    ['no nonce', {}],
    ['a nonce that can be guessed', { nonce: '1' }],
    ['a nonce that is no text', { nonce: 1 }],
    ['an endless nonce', { nonce: 'A'.repeat(65) }],
    ['a cursor that is no text', { nonce, cursor: { $gt: '' } }],
    ['an endless cursor', { nonce, cursor: '1'.repeat(201) }],
    ['a cursor with a command', { nonce, cursor: '0\r\nFLUSHALL' }],
  ])('an internal service with %s gets 422', async (_what, body) => {
    expect((await askOf(api, body)).status).toBe(422);
  });

  test.each(['0.none', '-1.x', '999999999999999.x', '1e9.x', 'x', '.', `9.${'a'.repeat(40)}:${'b'.repeat(40)}`])(
    'an internal service with the cursor %s reads the list from its beginning',
    async (cursor) => {
      const session = await newSession(api);
      await logOut(api, session);
      expect(decodeJwt(await statementOf({ nonce, cursor })).revoked).toContain(session.session_id);
    },
  );

  test('an internal service that reads too much has to wait, for what it was sent too, and no other with it', async () => {
    const keyPrefix = uniqueName();
    const narrow = await start({ KEY_PREFIX: keyPrefix, REVOCATION_LIMIT_PER_SIBLING: '10' });
    await completeDenyListOf(keyPrefix);
    const keys = redisKeys(keyPrefix);
    const ids = Array.from({ length: 4_500 }, (_, i) => `s${i}`);
    await redis.mset(Object.fromEntries(ids.map((id) => [keys.denied(id), 'none:SESSION_REVOKED'])));
    await redis.zadd(keys.revocations, ...ids.flatMap((id, i) => [i + 1, id]));
    const answers = [await askOf(narrow), await askOf(narrow)];
    expect(answers.map(({ status }) => status)).toEqual([200, 429]);
    expect(Number(answers[1]?.headers['retry-after'])).toBeGreaterThan(0);
    expect((await askOf(narrow, { nonce }, internalServiceCredential('pantry.2'))).status).toBe(429);
    expect((await askOf(narrow, { nonce }, internalServiceCredential('recipes'))).status).toBe(200);
    const reads = (labels: object) => narrow.metric('auth_revocation_feed_reads_total', { ...labels });
    expect(await reads({ secret: 'pantry.2', content: 'refused' })).toBe(1);
    expect(await reads({ secret: 'recipes', content: 'refused' })).toBe(0);
    expect(await narrow.metric('auth_rate_limited_total', { rule: 'revocation_sibling' })).toBe(2);
  });

  test('an internal service is counted by the name of its secret, and logged without the secret', async () => {
    const before = await api.metric('auth_revocation_feed_reads_total', { secret: 'pantry.2' });
    const refused = await api.metric('auth_authorization_failures_total', { code: 'ERR-INVALID-CREDENTIALS' });
    const second = internalServiceCredential('pantry.2');
    await askOf(api, { nonce }, second);
    await askOf(api, { nonce }, `${second}x`);
    expect(await api.metric('auth_revocation_feed_reads_total', { secret: 'pantry.2' })).toBe(before + 1);
    expect(await api.metric('auth_authorization_failures_total', { code: 'ERR-INVALID-CREDENTIALS' })).toBe(
      refused + 1,
    );
    await eventually('the line', () => logged.some((line) => line.includes(path)));
    const secrets = [credential, second].map((text) => String(text.split('.').at(-1)));
    expect(logged.filter((line) => secrets.some((secret) => line.includes(secret)))).toEqual([]);
  });
});

describe('the secrets of internal services', () => {
  let file: string;
  let secrets: readonly KeyEntry[];
  let own: TestApi;

  const write = (keys: readonly object[]) => writeFile(file, JSON.stringify({ keys }));

  beforeAll(async () => {
    const { keysDir } = testEnvironment();
    file = join(keysDir, `${uniqueName()}-internal-services.json`);
    ({ keys: secrets } = await loadKeyFile(internalServiceSecretsFile(keysDir)));
    await write(secrets);
    own = await startTestApi({ REVOCATION_FEED_SECRETS_FILE: file }, { keyFileIntervalMs: 10 });
    await completeDenyListOf(own.keyPrefix);
  });
  afterAll(() => own.close());

  test('two secrets of one internal service are valid side by side, and a removed one is refused without a restart', async () => {
    const both = [internalServiceCredential('pantry.1'), internalServiceCredential('pantry.2')];
    for (const shown of both) expect((await askOf(own, { nonce }, shown)).status).toBe(200);
    await write(secrets.filter(({ kid }) => kid !== 'pantry.1'));
    await eventually('the refusal', async () => (await askOf(own, { nonce }, both[0])).status === 401);
    expect((await askOf(own, { nonce }, both[1])).status).toBe(200);
    await write(secrets);
    await eventually('the return', async () => (await askOf(own, { nonce }, both[0])).status === 200);
  });

  test.each<[string, () => KeyEntry]>([
    ['a short secret', () => ({ kty: 'oct', kid: 'pantry', k: 'c2hvcnQ' })],
    ['a name with a colon', () => ({ ...generateSecretKey(), kid: 'revocations:pantry' })],
    ['a name in capitals', () => ({ ...generateSecretKey(), kid: 'Pantry' })],
    ['a public key', () => ({ kty: 'OKP', kid: 'pantry', crv: 'Ed25519', x: 'A'.repeat(43) })],
  ])('a file of secrets with %s is not accepted', async (_what, key) => {
    const broken = join(testEnvironment().keysDir, `${uniqueName()}-broken.json`);
    await writeFile(broken, JSON.stringify({ keys: [key()] }));
    await expect(startTestApi({ REVOCATION_FEED_SECRETS_FILE: broken })).rejects.toThrow(
      /symmetric|name of an internal service/,
    );
  });

  test('without secrets there is no feed of revocations', async () => {
    const without = await start({ REVOCATION_FEED_SECRETS_FILE: '' });
    const answer = await askOf(without);
    expect([answer.status, answer.json.error_code]).toEqual([404, 'ERR-ROUTE-NOT-FOUND']);
  });
});
