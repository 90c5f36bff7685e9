import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createAccountEvent } from '@auth-account/messaging';
import { expect, test } from '@jest/globals';
import { compactDecrypt } from 'jose';
import type { EncryptionKey } from '../config.ts';
import type { Letter } from './read-mail.ts';
import { createSealSecret } from './seal-secret.ts';

const user_id = '0190a3b4-c5d6-7000-8000-000000000001';
const origin = { id: '0190a3b4-c5d6-7000-8000-000000000002', requestId: 'request-1', at: new Date(0) };
const notice = createAccountEvent(
  'service.auth.events.notice',
  { user_id, purpose: 'email_changed', locale: 'en' },
  origin,
);
const letter: Letter = {
  to: 'old@example.com',
  purpose: 'email_changed',
  locale: 'en',
  values: { email: 'old@example.com', time: 'now', undo_token: 'dG9rZW4' },
};

test.each<[string, { publicKey: KeyObject; privateKey: KeyObject }, Partial<EncryptionKey>, string]>([
  ['X25519', generateKeyPairSync('x25519'), {}, 'ECDH-ES'],
  ['P-256', generateKeyPairSync('ec', { namedCurve: 'P-256' }), { alg: 'ECDH-ES+A256KW' }, 'ECDH-ES+A256KW'],
  ['RSA', generateKeyPairSync('rsa', { modulusLength: 2_048 }), {}, 'RSA-OAEP-256'],
])('only the holder of the key can read a sealed secret: %s', async (_kind, { publicKey, privateKey }, fields, alg) => {
  const jwk = { ...publicKey.export({ format: 'jwk' }), ...fields } as EncryptionKey;
  const sealed = await createSealSecret(async () => letter, jwk)(notice);
  const { plaintext, protectedHeader } = await compactDecrypt(sealed ?? '', privateKey);
  expect(JSON.parse(new TextDecoder().decode(plaintext))).toEqual({ email: 'old@example.com', undo_token: 'dG9rZW4' });
  expect(protectedHeader).toMatchObject({ alg, enc: 'A256GCM' });
});

test('other events have no sealed secret, nor does a subscriber without a key', async () => {
  const jwk = generateKeyPairSync('x25519').publicKey.export({ format: 'jwk' }) as EncryptionKey;
  const deleted = createAccountEvent(
    'service.auth.events.deleted',
    { user_id, home_group_id: user_id, deleted_at: '2026-01-01T00:00:00.000Z' },
    origin,
  );
  expect(await createSealSecret(async () => letter, jwk)(deleted)).toBeUndefined();
  expect(await createSealSecret(async () => undefined, jwk)(notice)).toBeUndefined();
});
