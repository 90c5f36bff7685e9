import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundleService } from '@auth-account/bundle';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { verifyNew, verifyUse } from '../../services/api/src/security/passkeys/webauthn.ts';
import { createAuthenticator } from '../support/api/authenticator.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const settings = { rpId: 'example.com', origins: ['https://app.example.com'] };
const challenge = 'a challenge';

let target: string;
let bundled: { readonly verifyNew: typeof verifyNew; readonly verifyUse: typeof verifyUse };

// An image has the library without its readers of certificates.
beforeAll(async () => {
  target = await mkdtemp(join(root, '.cache/bundle-'));
  const { outputs } = await bundleService('api', target);
  const chunk = Object.keys(outputs).find((path) => outputs[path]?.exports.includes('verifyUse')) ?? '';
  bundled = await import(pathToFileURL(join(root, chunk)).href);
});
afterAll(() => rm(target, { recursive: true }));

test.each(['ES256', 'EdDSA', 'RS256'] as const)('a bundle verifies passkeys of %s', async (algorithm) => {
  const authenticator = createAuthenticator({ origin: 'https://app.example.com', algorithm });
  const made = authenticator.create({ challenge, rp: { id: settings.rpId }, user: { id: 'AAAA' } }, { fmt: 'packed' });
  const passkey = await bundled.verifyNew(settings, made, challenge);
  const rules = { challenge, requireUv: true };
  const used = authenticator.get({ challenge });
  expect(await bundled.verifyUse(settings, passkey, used, rules)).toMatchObject({ isUserVerified: true });
  const forged = authenticator.get({ challenge }, { isForged: true });
  await expect(bundled.verifyUse(settings, passkey, forged, rules)).rejects.toThrow();
});
