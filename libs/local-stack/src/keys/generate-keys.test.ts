import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assertAccessTokenKeys, generateSigningKey, loadKeyFile, writeKeyFile } from '@auth-account/tokens';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { generateKeys, writePublicKeys } from './generate-keys.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'auth-account-keys-'));
});
afterEach(() => rm(dir, { recursive: true }));

const readKeys = async (path: string) => JSON.parse(await readFile(path, 'utf8')).keys;

test('the access-token key is a private JWK of P-256, or of the curve that is set', async () => {
  const bytes = expect.stringMatching(/^[\w-]{43}$/);
  const common = { d: bytes, x: bytes, kid: expect.stringMatching(/^[0-9a-f]{16}$/), use: 'sig' };
  const { accessToken } = await generateKeys(dir);
  expect(await readKeys(accessToken)).toEqual([{ ...common, kty: 'EC', crv: 'P-256', y: bytes, alg: 'ES256' }]);
  await rm(accessToken);
  await generateKeys(dir, 'EdDSA');
  expect(await readKeys(accessToken)).toEqual([{ ...common, kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA' }]);
});

test('the public file has the same keys, and nothing that signs', async () => {
  const { accessToken, accessTokenPublic } = await generateKeys(dir);
  const [{ d, ...open }] = await readKeys(accessToken);
  expect(await readKeys(accessTokenPublic)).toEqual([open]);
  expect(await readFile(accessTokenPublic, 'utf8')).not.toContain(d);
  assertAccessTokenKeys(await loadKeyFile(accessTokenPublic), 'verify');
});

test('the public file follows the existing keys, of whatever kind', async () => {
  const { accessToken, accessTokenPublic } = await generateKeys(dir);
  const [first] = await readKeys(accessToken);
  const second = await generateSigningKey('EdDSA');
  await writeKeyFile(accessToken, { keys: [second, first] }, { replace: true });
  await generateKeys(dir);
  expect((await readKeys(accessTokenPublic)).map(({ kid }: { kid: string }) => kid)).toEqual([second.kid, first.kid]);

  const elsewhere = join(dir, 'elsewhere.json');
  const mixed = [await generateSigningKey('ES256'), second] as const;
  await writeKeyFile(elsewhere, { keys: mixed }, { replace: false });
  await writePublicKeys(elsewhere, accessTokenPublic);
  expect((await readKeys(accessTokenPublic)).map(({ alg }: { alg: string }) => alg)).toEqual(['ES256', 'EdDSA']);
});

test('the refresh-token and server keys are 256 random bits each, and differ', async () => {
  const { refreshToken, server } = await generateKeys(dir);
  const [first] = await readKeys(refreshToken);
  const [second] = await readKeys(server);
  expect(Buffer.from(first.k, 'base64url')).toHaveLength(32);
  expect(first).toEqual({ kty: 'oct', kid: expect.any(String), k: expect.any(String) });
  expect(second.k).not.toBe(first.k);
});

test('only the owner may read the keys', async () => {
  const files = await generateKeys(dir);
  for (const path of Object.values(files)) expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test('existing keys are kept', async () => {
  const { accessToken } = await generateKeys(dir);
  const before = await readFile(accessToken, 'utf8');
  await generateKeys(dir);
  expect(await readFile(accessToken, 'utf8')).toBe(before);
});
