import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loadPasswordBlockList } from './password-block-list.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'auth-account-block-list-'));
});
afterAll(() => rm(dir, { recursive: true }));

async function load(content: string | Buffer) {
  const path = join(dir, 'passwords.txt');
  await writeFile(path, content);
  return loadPasswordBlockList(path);
}

describe('the list of blocked passwords', () => {
  test('the list has each line as one password, and nothing else', async () => {
    const list = await load('iloveyou\n\nsunshine 1\r\npassword\n');
    expect(list.size).toBe(3);
    const tried = ['iloveyou', 'sunshine 1', 'password', 'sunshine', 'sunshine 1\r', 'passwort', ''];
    expect(tried.filter((password) => list.has(password))).toEqual(['iloveyou', 'sunshine 1', 'password']);
  });

  test('the list compares without regard to case and after NFKC, whichever side is composed', async () => {
    const list = await load('Passwort\nka\u0308sekuchen\n\ufb01nances1\n');
    const tried = ['PASSWORT', 'K\u00c4SEKUCHEN', 'finances1', '\ufb01NANCES1', 'kasekuchen'];
    expect(tried.filter((password) => list.has(password))).toEqual(tried.slice(0, 4));
  });

  test('the list counts a duplicate once', async () => {
    expect((await load('password\nPassword\npassword')).size).toBe(1);
  });

  test('the list finds each of many passwords, and no similar ones', async () => {
    const words = Array.from({ length: 5_000 }, (_, index) => `password-${index}`);
    const list = await load(words.join('\n'));
    expect(list.size).toBe(5_000);
    expect(words.filter((word) => !list.has(word))).toEqual([]);
    expect(words.filter((word) => list.has(`${word}-`))).toEqual([]);
  });

  test.each([
    ['is empty', Buffer.from('\n\r\n'), /is empty/],
    ['is no UTF-8', Buffer.from([0x70, 0xe4, 0x0a]), /cannot be read as UTF-8/],
  ])('a list that %s is refused', async (_, content, message) => {
    await expect(load(content)).rejects.toThrow(message);
  });

  test('a missing list is refused', async () => {
    await expect(loadPasswordBlockList(join(dir, 'none.txt'))).rejects.toThrow(/none\.txt cannot be read/);
  });
});
