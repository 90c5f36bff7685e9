import { ConfigError, loadConfig } from '@auth-account/config';
import * as Type from '@auth-account/contracts/type';
import { expect, test } from '@jest/globals';
import { providerConfig } from './provider-config.ts';

const office = { name: 'office', issuers: ['https://id.office.example'], client_ids: ['app'] };
const complete = { ...office, jwks_uri: 'https://id.office.example/keys' };

function load(entries: readonly object[]) {
  return loadConfig(Type.Object(providerConfig), { env: { IDENTITY_PROVIDERS: JSON.stringify(entries) } });
}

test('takes presets, other providers, and keys over plain HTTP of this host', () => {
  const local = { ...complete, name: 'local', jwks_uri: 'http://127.0.0.1:8093/keys' };
  const entries = [{ preset: 'apple', client_ids: ['com.example.pantry'] }, complete, local];
  expect(load(entries).IDENTITY_PROVIDERS).toEqual(entries);
});

test.each([
  ['the name of a path', [{ ...complete, name: 'link' }], 'no provider may be called link'],
  ['the name of another path', [{ ...complete, name: 'challenge' }], 'no provider may be called challenge'],
  ['a name twice', [complete, complete], 'has the name of another provider'],
  ['a preset with keys of its own', [{ preset: 'google', ...complete }], 'the preset has its own jwks_uri'],
  ['no keys', [office], 'without a preset it must have jwks_uri'],
  ['keys over plain HTTP', [{ ...complete, jwks_uri: 'http://id.office.example/keys' }], 'must be an https URL'],
])('refuses %s', (_, entries, message) => {
  expect(() => load(entries)).toThrow(ConfigError);
  expect(() => load(entries)).toThrow(message);
});
