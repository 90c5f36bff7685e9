import { beforeAll, expect, test } from '@jest/globals';
import { loadCommonPasswords, type PasswordBlockList } from './password-block-list.ts';

let list: PasswordBlockList;
beforeAll(async () => {
  list = await loadCommonPasswords();
});

test('common passwords are on the list, in whatever case', () => {
  const chosen = ['password', '12345678', 'iloveyou', 'qwerty123', 'Password1', 'PASSW0RD', '1q2w3e4r5t', 'trustno1'];
  expect(chosen.filter((password) => !list.has(password))).toEqual([]);
});

test('a password that is not common is not on the list', () => {
  const others = ['correct horse battery', 'xq7 lampe', 'password of Riga', ''];
  expect(others.filter((password) => list.has(password))).toEqual([]);
});

test('the list has thousands of passwords, and none that is too short to be chosen anyway', () => {
  expect(list.size).toBeGreaterThan(15_000);
  expect(['123456', 'qwerty', 'dragon', 'letmein'].filter((password) => list.has(password))).toEqual([]);
});
