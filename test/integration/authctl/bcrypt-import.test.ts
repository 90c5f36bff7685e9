import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { logIn, password } from '../../support/accounts.ts';
import { seedAccounts } from '../../support/seed-accounts.ts';
import { startTestApi, type TestApi } from '../../support/test-api.ts';

/** Hash of the password `U*U` with cost 5: a vector of Openwall's crypt_blowfish. */
const vector = '$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ ARGON2_MEMORY_KIB: '64', ARGON2_PASSES: '1' });
});
afterAll(() => api.close());

const storedHash = async (email: string) => (await api.collections.users.findOne({ email }))?.password_hash;
const logInWith = (email: string, given: string) => api.post('/api/v1/auth/login', { email, password: given });

describe('logins with an older hash', () => {
  test.each(['2a', '2b', '2y'])(
    'an account imported with a bcrypt hash $%s$ logs in, is hashed again with Argon2id, and logs in again',
    async (version) => {
      const [email = ''] = await seedAccounts(api.collections, 1, `$${version}${vector}`);
      expect((await logInWith(email, 'U*V')).status).toBe(401);
      expect(await storedHash(email)).toBe(`$${version}${vector}`);

      expect((await logInWith(email, 'U*U')).status).toBe(200);
      const rehashed = await storedHash(email);
      expect(rehashed).toMatch(/^\$argon2id\$v=19\$m=64,/);
      expect((await logInWith(email, 'U*U')).status).toBe(200);
      expect((await logInWith(email, 'U*V')).status).toBe(401);
      expect(await storedHash(email)).toBe(rehashed);
    },
  );

  test('an account whose hash cost less than configured is hashed again at its login', async () => {
    const { hash } = await import('@node-rs/argon2');
    const weak = await hash(password, { memoryCost: 8, timeCost: 1, parallelism: 1 });
    const [email = ''] = await seedAccounts(api.collections, 1, weak);
    await logIn(api, email);
    expect(await storedHash(email)).toMatch(/^\$argon2id\$v=19\$m=64,/);
  });
});
