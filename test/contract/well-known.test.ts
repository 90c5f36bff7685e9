import { ConfigError, loadConfig } from '@auth-account/config';
import { routes } from '@auth-account/contracts';
import * as Type from '@auth-account/contracts/type';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { passkeyConfig } from '../../services/api/src/security/passkeys/passkey-config.ts';
import { passkeySettings } from '../support/api/passkeys.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';

describe('the files of the passkeys’ domain', () => {
  let api: TestApi;

  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());

  const relation = ['delegate_permission/common.handle_all_urls', 'delegate_permission/common.get_login_creds'];
  const sha256_cert_fingerprints = [`14${':6D'.repeat(31)}`, `15${':6D'.repeat(31)}`];
  const target = { namespace: 'android_app', package_name: 'com.example.pantry', sha256_cert_fingerprints };

  test.each([
    [routes.getAppleApps.path, { webcredentials: { apps: ['A1B2C3D4E5.com.example.pantry'] } }],
    [routes.getAssetLinks.path, [{ relation, target }]],
    [routes.getRelatedOrigins.path, { origins: ['https://pantry.example.org'] }],
  ])('%s comes from the configuration, as JSON, without a redirect', async (path, file) => {
    const answer = await api.send({ method: 'GET', path });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(answer.headers['cache-control']).toBe('public, max-age=3600');
    expect(answer.json).toEqual(file);
  });
});

describe('the settings of passkeys', () => {
  const schema = Type.Object(passkeyConfig);
  const load = (env: Readonly<Record<string, string>>) => loadConfig(schema, { env: { ...passkeySettings, ...env } });

  /** Returns the message of the refusal. */
  function refusal(env: Readonly<Record<string, string>>): string {
    try {
      load(env);
      return 'accepted';
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return error.message;
    }
  }

  test('the settings of passkeys may all be missing', () => {
    expect(loadConfig(schema, { env: {} })).toMatchObject({ WEBAUTHN_ORIGINS: [], APPLE_APP_IDS: [] });
  });

  test.each([
    'https://example.com',
    'https://a.b.example.com:8443',
    `android:apk-key-hash:${'A'.repeat(43)}`,
    'https://pantry.example.org',
  ])('the settings of passkeys accept the origin %s', (origin) => {
    expect(load({ WEBAUTHN_ORIGINS: origin }).WEBAUTHN_ORIGINS).toEqual([origin]);
  });

  test('the settings of passkeys accept http on localhost, for development', () => {
    const local = { WEBAUTHN_RP_ID: 'localhost', WEBAUTHN_ORIGINS: 'http://localhost:5173' };
    expect(load(local).WEBAUTHN_RP_ID).toBe('localhost');
  });

  test.each([
    ['WEBAUTHN_RP_ID', 'https://example.com', 'matching'],
    ['WEBAUTHN_RP_ID', '127.0.0.1', 'matching'],
    ['WEBAUTHN_RP_ID', 'Example.com', 'matching'],
    ['WEBAUTHN_ORIGINS', '', 'WEBAUTHN_ORIGINS must name at least one origin'],
    ['WEBAUTHN_ORIGINS', 'https://example.org', '/0 must be on example.com or a subdomain of it'],
    ['WEBAUTHN_ORIGINS', 'https://notexample.com', '/0 must be on example.com or a subdomain of it'],
    ['WEBAUTHN_ORIGINS', 'https://app.example.com/', '/0 must be an origin'],
    ['WEBAUTHN_ORIGINS', 'https://app.example.com:443', '/0 must be an origin'],
    ['WEBAUTHN_ORIGINS', 'https://APP.example.com', '/0 must be an origin'],
    ['WEBAUTHN_ORIGINS', 'http://app.example.com', 'matching'],
    ['WEBAUTHN_ORIGINS', 'http://localhost.example.com', '/0 must be an origin over https'],
    ['WEBAUTHN_ORIGINS', `android:apk-key-hash:${'A'.repeat(43)}=`, '43 characters'],
    ['WEBAUTHN_ORIGINS', `android:apk-key-hash:${'14:6D'.repeat(16)}`, '43 characters'],
    ['WEBAUTHN_RELATED_ORIGINS', 'https://pantry.example.org/', '/0 must be an origin'],
    ['APPLE_APP_IDS', 'com.example.pantry', 'matching'],
    ['ANDROID_APPS', 'com.example.pantry=14:6D', 'matching'],
  ])('the settings of passkeys refuse %s=%s', (name, value, message) => {
    expect(refusal({ [name]: value })).toContain(message);
  });
});
