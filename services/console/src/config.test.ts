import { ConfigError, loadConfig } from '@auth-account/config';
import { expect, test } from '@jest/globals';
import { consoleConfig } from './config.ts';

const least = {
  MONGODB_URI: 'mongodb://localhost',
  REDIS_URL: 'redis://localhost',
  CONSOLE_PUBLIC_URL: 'https://console.example.com',
  CONSOLE_ISSUER: 'https://id.example.com/realms/staff',
  CONSOLE_CLIENT_ID: 'console',
  CONSOLE_ROLES: '{"viewer":["staff"]}',
  CONSOLE_SECRETS: 'a secret of at least 32 characters',
};

function problemsOf(change: Readonly<Record<string, string>>): string[] {
  try {
    loadConfig(consoleConfig, { env: { ...least, ...change } });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ name }) => name);
    throw error;
  }
}

test('the console needs stores, page, provider, roles and a secret, and has a value for the rest', () => {
  const config = loadConfig(consoleConfig, { env: least });
  expect(config).toMatchObject({
    CONSOLE_PORT: 8082,
    CONSOLE_OPS_PORT: 9083,
    CONSOLE_SCOPES: 'openid profile',
    CONSOLE_ROLE_CLAIM: 'roles',
    CONSOLE_SESSION_SECONDS: 3_600,
    CONSOLE_RECHECK_SECONDS: 60,
    CONSOLE_FOUR_EYES: [],
    CONSOLE_METRICS_URLS: [],
  });
  for (const name of Object.keys(least)) expect(problemsOf({ [name]: '' })).toContain(name);
});

test.each([
  ['CONSOLE_PUBLIC_URL', 'http://127.0.0.1:8082'],
  ['CONSOLE_ISSUER', 'http://127.0.0.1:8091'],
  ['CONSOLE_FOUR_EYES', 'account.disable,deletion.order'],
  ['CONSOLE_SECRETS', `${'a'.repeat(32)},${'b'.repeat(32)}`],
  ['CONSOLE_TRACE_URL', 'https://traces.example.com/search?tag={request_id}'],
])('%s may be %s', (name, value) => {
  expect(problemsOf({ [name]: value })).toEqual([]);
});

test.each([
  ['CONSOLE_PUBLIC_URL', 'http://console.example.com'],
  ['CONSOLE_PUBLIC_URL', 'https://console.example.com/'],
  ['CONSOLE_PUBLIC_URL', 'https://Console.example.com'],
  ['CONSOLE_ISSUER', 'http://id.example.com'],
  ['CONSOLE_ISSUER', 'https://id.example.com?x'],
  ['CONSOLE_SCOPES', 'profile'],
  ['CONSOLE_ROLES', '{}'],
  ['CONSOLE_ROLES', '{"admin":["x"]}'],
  ['CONSOLE_ROLES', '{"viewer":[]}'],
  ['CONSOLE_SECRETS', `${'a'.repeat(32)},short`],
  ['CONSOLE_FOUR_EYES', 'account.erase'],
  ['CONSOLE_TRACE_URL', 'https://traces.example.com'],
])('%s may not be %s', (name, value) => {
  expect(problemsOf({ [name]: value })).toEqual([name]);
});
