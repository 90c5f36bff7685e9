import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as Type from '@auth-account/contracts/type';
import { describe, expect, test } from '@jest/globals';
import { ConfigError } from './config-error.ts';
import { loadConfig } from './load-config.ts';
import { providerConfig } from './provider-config.ts';
import { readProviders } from './providers.ts';

const pemOf = (namedCurve: string) =>
  generateKeyPairSync('ec', { namedCurve }).privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
const secrets = { team_id: 'TEAM', key_id: 'KEY', private_key: pemOf('P-256') };
const apple = { preset: 'apple', client_ids: ['com.example.pantry'] };
const google = { preset: 'google', client_ids: ['1.apps.googleusercontent.com'] };
const own = {
  name: 'office',
  issuers: ['https://id.example'],
  jwks_uri: 'https://id.example/keys',
  client_ids: ['app'],
};
const endpoints = { token_endpoint: 'https://id.example/token', revocation_endpoint: 'https://id.example/revoke' };

const load = (...entries: object[]) =>
  loadConfig(Type.Object(providerConfig), { env: { IDENTITY_PROVIDERS: JSON.stringify(entries) } }).IDENTITY_PROVIDERS;

function problemsOf(...entries: object[]): string {
  try {
    load(...entries);
    return '';
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message;
  }
}

describe('entries of providers', () => {
  test.each([
    [apple],
    [{ ...apple, ...secrets }],
    [google],
    [{ ...google, notices: 'risc' }],
    [own],
    [{ ...own, ...endpoints, ...secrets, notices: 'apple' }],
    [{ ...own, ...endpoints, ...secrets, token_endpoint: 'http://127.0.0.1:9/token' }],
    [{ ...apple, ...secrets, redirect_uris: { 'com.example.pantry': 'https://app.example.com/apple' } }],
    [{ ...own, jwks_uri: 'http://127.0.0.1:9/keys' }],
  ])('an entry is accepted: %j', (entry) => {
    expect(problemsOf(entry)).toBe('');
  });

  test('the entries of docs/operations.md are accepted, with a whole key in place of the one that they shorten', () => {
    const page = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
    const [, example = ''] = /```json\n([\s\S]*?)```/.exec(page) ?? [];
    const entries: object[] = JSON.parse(
      example.replace(/-----BEGIN[^"]*/, JSON.stringify(secrets.private_key).slice(1, -1)),
    );
    expect(load(...entries)).toMatchObject([{ preset: 'apple' }, { preset: 'google' }]);
  });

  test.each([
    [{ ...own, name: 'link' }, 'no provider may be called link'],
    [{ ...own, name: 'challenge' }, 'no provider may be called challenge'],
    [{ ...own, issuers: ['https://id.example/{tenantid}/v2.0'] }, 'issuers has a placeholder'],
    [{ ...own, jwks_uri: undefined }, 'without a preset it must have jwks_uri'],
    [{ ...own, jwks_uri: 'http://id.example/keys' }, 'jwks_uri must be an https URL'],
    [{ ...apple, ...endpoints }, 'the preset has its own token_endpoint'],
    [{ ...apple, notices: 'apple' }, 'the preset apple takes no notices'],
    [{ ...google, ...secrets }, 'the preset google takes no private_key'],
    [{ ...google, notices: 'apple' }, 'notices of Google are risc'],
    [{ ...apple, team_id: 'TEAM' }, 'to exchange codes it must have private_key too'],
    [{ ...own, ...secrets }, 'to exchange codes it must have revocation_endpoint too'],
    [{ ...own, ...endpoints, ...secrets, token_endpoint: 'http://id.example' }, 'token_endpoint must be an https URL'],
    [{ ...apple, ...secrets, private_key: pemOf('P-384') }, 'private_key must be a PEM key on P-256'],
    [{ ...google, redirect_uris: {} }, 'the preset google takes no redirect_uris'],
    [{ ...apple, redirect_uris: {} }, 'to exchange codes it must have private_key too'],
    [{ ...apple, ...secrets, redirect_uris: { web: 'https://app.example' } }, 'client_ids has no web'],
    [
      { ...own, ...endpoints, ...secrets, redirect_uris: { app: 'http://app.example' } },
      'redirect_uris must have an https URL for app',
    ],
    [{ ...apple, ...secrets, private_key: 'no key' }, 'private_key must be a PEM key on P-256'],
  ])('an entry is refused: %j', (entry, problem) => {
    const text = problemsOf(entry);
    expect(text).toContain(problem);
    expect(text).not.toContain('BEGIN');
  });

  test('an entry may not have the name of another', () => {
    expect(problemsOf(apple, { ...own, name: 'apple' })).toContain('has the name of another provider');
  });
});

test('a preset brings its endpoints and security events, and codes are exchanged only with a key', () => {
  const providers = readProviders(load({ ...apple, ...secrets }, google, { ...own, ...endpoints, ...secrets }));
  expect(providers.get('apple')).toMatchObject({
    exchange: { tokenUrl: 'https://appleid.apple.com/auth/token', audience: 'https://appleid.apple.com' },
    notices: 'apple',
  });
  expect(providers.get('google')).toMatchObject({ exchange: undefined, notices: undefined });
  expect(providers.get('office')?.exchange).toMatchObject({ revocationUrl: endpoints.revocation_endpoint });
  expect(readProviders(load(apple)).get('apple')?.exchange).toBeUndefined();
});
