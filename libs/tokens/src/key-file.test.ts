import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseKeySet } from '@auth-account/verifier/access-token';
import { expect, test } from '@jest/globals';
import { loadKeyFile } from './key-file.ts';

const parse = (value: unknown) => parseKeySet(typeof value === 'string' ? value : JSON.stringify(value), 'keys.json');

test('parseKeySet returns the keys in order', () => {
  const { keys } = parse({
    keys: [
      { kid: 'b', kty: 'oct' },
      { kid: 'a', kty: 'oct' },
    ],
  });
  expect(keys.map(({ kid }) => kid)).toEqual(['b', 'a']);
});

test.each([
  ['what is no JSON', '{"keys":[{"k":"very secret"', 'not JSON'],
  ['what is no key set', [], 'not a JWK set'],
  ['null', 'null', 'not a JWK set'],
  ['a key without kid', { keys: [{ kty: 'oct' }] }, 'not a JWK set'],
  ['a key without kty', { keys: [{ kid: 'a' }] }, 'not a JWK set'],
  ['a key that is null', { keys: [null] }, 'not a JWK set'],
  ['a key that is text', { keys: ['a'] }, 'not a JWK set'],
  ['a good key and one that is none', { keys: [{ kid: 'a', kty: 'oct' }, {}] }, 'not a JWK set'],
  ['an empty kid', { keys: [{ kid: '', kty: 'oct' }] }, 'not a JWK set'],
  ['a kid of 65 characters', { keys: [{ kid: 'a'.repeat(65), kty: 'oct' }] }, 'not a JWK set'],
  ['a kid that is no text', { keys: [{ kid: ['a'], kty: 'oct' }] }, 'not a JWK set'],
  ['no key', { keys: [] }, 'no key'],
  [
    'two keys of one kid',
    {
      keys: [
        { kid: 'a', kty: 'oct' },
        { kid: 'a', kty: 'oct' },
      ],
    },
    'same kid',
  ],
])('parseKeySet refuses %s, and names the file, but none of its content', (_, value, message) => {
  expect(() => parse(value)).toThrow(`keys.json: `);
  expect(() => parse(value)).toThrow(message);
  expect(() => parse(value)).not.toThrow('very secret');
});

test('a kid of 64 characters is accepted', () => {
  const set = { keys: [{ kid: 'a'.repeat(64), kty: 'oct' }] };
  expect(parse(set)).toEqual(set);
});

test('a key file is read, and named where it is wrong', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'key-file-'));
  const path = join(dir, 'keys.json');
  await writeFile(path, '{"keys":[{"kid":"ä","kty":"oct","k":"s"}]}');
  expect(await loadKeyFile(path)).toEqual({ keys: [{ kid: 'ä', kty: 'oct', k: 's' }] });
  await writeFile(path, '{}');
  await expect(loadKeyFile(path)).rejects.toThrow(`${path}: not a JWK set ({"keys":[{"kid":…,"kty":…},…]})`);
  await rm(dir, { recursive: true });
});

test('a missing key file is an error', async () => {
  await expect(loadKeyFile('/nonexistent/keys.json')).rejects.toThrow('ENOENT');
});
