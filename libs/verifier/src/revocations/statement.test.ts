import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { readStatement } from './statement.ts';

const [own, foreign] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];
const question = { iss: 'https://auth.local', aud: 'revocations:pantry', nonce: 'n', since: '' };
const claims = { ...question, iat: 1, cursor: '1.x', more: false, revoked: ['s'], below: {} };

function statement(body: string, key: KeyObject): string {
  const parts = ['{"alg":"EdDSA","typ":"revocations+jwt","kid":"k"}', body];
  const signed = parts.map((part) => Buffer.from(part).toString('base64url')).join('.');
  return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`;
}

const read = (text: string) => readStatement(text, question, async () => ({ key: own.publicKey, algorithm: 'EdDSA' }));

test('a statement of the issuer is read', async () => {
  expect(await read(statement(JSON.stringify(claims), own.privateKey))).toEqual(claims);
});

test('claims of a statement are not read before its signature is verified', async () => {
  const text = '{"revoked":';
  await expect(read(statement(text, foreign.privateKey))).rejects.toThrow('no key of the issuer has signed it');
  await expect(read(statement(text, own.privateKey))).rejects.toThrow('not in the form');
});

test('a character that decodes to another byte breaks the signature of a statement', async () => {
  const good = statement(JSON.stringify(claims), own.privateKey);
  const at = good.indexOf('.') + 5;
  const disguised = good.slice(0, at) + String.fromCharCode(good.charCodeAt(at) + 0x100) + good.slice(at + 1);
  await expect(read(disguised)).rejects.toThrow('not in the form');
});

test('a statement of more than 16 MiB is not read at all', async () => {
  const text = statement(JSON.stringify({ ...claims, revoked: ['s'.repeat(13 * 2 ** 20)] }), own.privateKey);
  await expect(read(text)).rejects.toThrow('it is no statement');
});
