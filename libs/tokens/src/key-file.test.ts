import { expect, test } from '@jest/globals';
import { loadKeyFile, parseKeySet } from './key-file.ts';

const parse = (value: unknown) => parseKeySet(typeof value === 'string' ? value : JSON.stringify(value), 'keys.json');

test('gives the keys in order', () => {
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
])('refuses %s, and names the file, but nothing that it holds', (_, value, message) => {
  expect(() => parse(value)).toThrow(`keys.json: `);
  expect(() => parse(value)).toThrow(message);
  expect(() => parse(value)).not.toThrow('very secret');
});

test('a file that is not there is an error', async () => {
  await expect(loadKeyFile('/nonexistent/keys.json')).rejects.toThrow('ENOENT');
});
