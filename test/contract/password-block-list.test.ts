import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newEmail } from '../support/api/accounts.ts';
import { seedAccounts } from '../support/api/seed-accounts.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';

const cheap = { ARGON2_MEMORY_KIB: '8', ARGON2_PASSES: '1' };

let dir: string;
let api: TestApi;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'auth-account-block-list-'));
  const file = join(dir, 'passwords.txt');
  await writeFile(file, 'sunshine1\nk\u00e4sekuchen\nshort\n');
  api = await startTestApi({ ...cheap, PASSWORD_BLOCKLIST_FILE: file });
});
afterAll(async () => {
  await api.close();
  await rm(dir, { recursive: true });
});

const register = (fields: object) =>
  api.registerAccount({
    email: newEmail(),
    password: 'correct horse battery',
    space_creation_mode: 'CREATE_NEW_HOME',
    ...fields,
  });

const blocked = {
  loc: ['body', 'password'],
  msg: 'Value error, the password is on a list of common passwords',
  type: 'value_error',
};

describe('a password on the list', () => {
  test.each(['sunshine1', 'Sunshine1', 'KA\u0308SEKUCHEN'])(
    'a password on the list is refused at registration: %s',
    async (password) => {
      const { status, json, text } = await register({ password });
      expect(status).toBe(422);
      expect(json).toMatchObject({ error_code: 'ERR-VALIDATION-FAILED', details: [blocked] });
      expect(text).not.toContain(password);
      expect(await api.collections.users.countDocuments()).toBe(0);
    },
  );

  test('a password on the list is reported together with what else is wrong', async () => {
    const { status, json } = await register({ password: 'short', email: 'nobody' });
    expect(status).toBe(422);
    expect(json.details.map(({ loc, type }: typeof blocked) => [loc.join('.'), type])).toEqual([
      ['body.email', 'string_pattern_mismatch'],
      ['body.password', 'string_too_short'],
      ['body.password', 'value_error'],
    ]);
  });

  test('a user who has a password on the list from before still logs in', async () => {
    const { hash } = await import('@node-rs/argon2');
    const passwordHash = await hash('sunshine1', { memoryCost: 8, timeCost: 1, parallelism: 1 });
    const [email] = await seedAccounts(api.collections, 1, passwordHash);
    expect((await api.logIn({ email, password: 'sunshine1' })).status).toBe(200);
  });
});

test('a password that only contains a listed one is taken', async () => {
  expect((await register({ password: 'sunshine1 in Riga' })).status).toBe(201);
});

test('a common password is accepted if only a file is configured', async () => {
  expect((await register({ password: 'password1' })).status).toBe(201);
});

describe('the list of common passwords', () => {
  let common: TestApi;
  beforeAll(async () => {
    const file = join(dir, 'passwords.txt');
    common = await startTestApi({ ...cheap, PASSWORD_BLOCKLIST: 'common', PASSWORD_BLOCKLIST_FILE: file });
  });
  afterAll(() => common.close());

  test.each(['password1', 'Password1', 'qwertyuiop', 'TrustNo1', 'sunshine1', 'k\u00e4sekuchen'])(
    'a common password, or one in the file, is refused at registration: %s',
    async (password) => {
      const body = { email: newEmail(), password, space_creation_mode: 'CREATE_NEW_HOME' };
      const { status, json } = await common.registerAccount(body);
      expect(status).toBe(422);
      expect(json).toMatchObject({ error_code: 'ERR-VALIDATION-FAILED', details: [blocked] });
      expect(await common.collections.users.countDocuments()).toBe(0);
    },
  );

  test('any other password of eight characters is taken', async () => {
    const body = { email: newEmail(), password: 'xq7 lampe', space_creation_mode: 'CREATE_NEW_HOME' };
    expect((await common.registerAccount(body)).status).toBe(201);
  });
});
