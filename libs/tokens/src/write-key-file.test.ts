import { chmod, chown, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { assertAccessTokenKeys } from './access-token-keys.ts';
import { generateSecretKey, generateSigningKey } from './generate-key.ts';
import { loadKeyFile } from './key-file.ts';
import { assertRefreshTokenKeys } from './refresh-token.ts';
import { writeKeyFile } from './write-key-file.ts';

/** Only root may change the owner of a file. */
const isRoot = process.getuid?.() === 0;
const [other, group] = isRoot ? [4_321, 4_322] : [process.getuid?.() ?? 0, process.getgid?.() ?? 0];

let dir: string;
let path: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'auth-account-keys-'));
  path = join(dir, 'keys.json');
});
afterEach(() => rm(dir, { recursive: true }));

describe('generated keys', () => {
  test.each(['EdDSA', 'ES256'] as const)(
    'a generated key signs as %s after it went through a file',
    async (algorithm) => {
      await writeKeyFile(path, { keys: [await generateSigningKey(algorithm)] }, { replace: false });
      const set = await loadKeyFile(path);
      expect(() => assertAccessTokenKeys(set, 'sign')).not.toThrow();
    },
  );

  test('a generated key says what it is for, and has a unique name', async () => {
    const signing = [await generateSigningKey('EdDSA'), await generateSigningKey('ES256')];
    const common = {
      alg: 'EdDSA',
      use: 'sig',
      kty: 'OKP',
      crv: 'Ed25519',
      kid: expect.stringMatching(/^[0-9a-f]{16}$/),
    };
    const [x, y, d] = [expect.any(String), expect.any(String), expect.any(String)];
    expect(signing).toEqual([
      { ...common, x, d },
      { ...common, alg: 'ES256', kty: 'EC', crv: 'P-256', x, y, d },
    ]);
    expect(signing[0]?.kid).not.toBe(signing[1]?.kid);
    expect(generateSecretKey()).toEqual({ kty: 'oct', kid: common.kid, k: expect.stringMatching(/^[\w-]{43}$/) });
  });

  test('a generated key makes refresh tokens, and differs each time', () => {
    const keys = [generateSecretKey(), generateSecretKey()] as const;
    expect(() => assertRefreshTokenKeys({ keys: [...keys] })).not.toThrow();
    expect(keys[0].k).not.toBe(keys[1].k);
    expect(keys[0].kid).not.toBe(keys[1].kid);
  });
});

describe('key files', () => {
  const first = { keys: [{ kid: 'a', kty: 'oct' }] } as const;
  const second = { keys: [{ kid: 'b', kty: 'oct' }] } as const;

  test('a key file is readable by its owner only, before and after a replacement, without leftovers', async () => {
    await writeKeyFile(path, first, { replace: false });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await writeKeyFile(path, second, { replace: true });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await loadKeyFile(path)).toEqual(second);
    expect(await readFile(path, 'utf8')).toBe(`${JSON.stringify(second, undefined, 2)}\n`);
    expect(await readdir(dir)).toEqual(['keys.json']);
  });

  test('a key file must exist to be replaced', async () => {
    await expect(writeKeyFile(path, first, { replace: true })).rejects.toThrow('ENOENT');
    expect(await readdir(dir)).toEqual([]);
  });

  test('a replaced key file keeps its owner, group and mode', async () => {
    await writeKeyFile(path, first, { replace: false });
    await chown(path, other, group);
    await chmod(path, 0o640);
    await writeKeyFile(path, second, { replace: true });
    const { uid, gid, mode } = await stat(path);
    expect({ uid, gid, mode: mode & 0o7777 }).toEqual({ uid: other, gid: group, mode: 0o640 });
    expect(await loadKeyFile(path)).toEqual(second);
  });

  (isRoot ? test : test.skip)(
    'a key file whose owner cannot be kept is not replaced, and nothing is left over',
    async () => {
      await writeKeyFile(path, first, { replace: false });
      await chmod(path, 0o644);
      await chown(dir, other, group);
      process.seteuid?.(other);
      try {
        await expect(writeKeyFile(path, second, { replace: true })).rejects.toMatchObject({
          message: "the file's owner 0 and group 0 cannot be kept (EPERM): nothing was replaced",
          cause: { code: 'EPERM', syscall: 'fchown' },
        });
      } finally {
        process.seteuid?.(0);
      }
      expect(await loadKeyFile(path)).toEqual(first);
      expect(await readdir(dir)).toEqual(['keys.json']);
    },
  );

  test('an existing key file is not overwritten unless asked', async () => {
    await writeFile(path, 'something else');
    await expect(writeKeyFile(path, first, { replace: false })).rejects.toThrow('EEXIST');
    expect(await readFile(path, 'utf8')).toBe('something else');
    expect(await readdir(dir)).toEqual(['keys.json']);
  });

  test('a key file behind a link is replaced, and the link stays', async () => {
    await writeKeyFile(path, first, { replace: false });
    const link = join(dir, 'link.json');
    await symlink(path, link);
    await writeKeyFile(link, second, { replace: true });
    expect(await loadKeyFile(path)).toEqual(second);
  });
});
