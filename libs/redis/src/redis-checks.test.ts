import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { redisChecks } from './redis-checks.ts';

describe('redisChecks', () => {
  test('redisChecks accept an address and a file that can be read', () => {
    expect(redisChecks.address('rediss+cluster://u:secret@a,b')).toEqual([]);
    expect(redisChecks.file(fileURLToPath(import.meta.url))).toEqual([]);
  });

  test.each([
    ['redis://u:hunter2@half@cache:1', 'a host is malformed'],
    ['redis://u:hunter2%@cache', 'URI malformed'],
    ['cache', 'REDIS_URL is no redis://, redis+cluster:// or redis+sentinel:// URL'],
    [undefined, 'REDIS_URL is no redis://, redis+cluster:// or redis+sentinel:// URL'],
  ])('redisChecks say what is wrong with the address %s, and never repeat it', (value, message) => {
    expect(redisChecks.address(value)).toEqual([{ path: '', message }]);
  });

  test('redisChecks say why a file cannot be read', () => {
    expect(redisChecks.file('/nowhere/ca.pem')).toEqual([{ path: '', message: 'the file cannot be read (ENOENT)' }]);
    expect(redisChecks.file('/')).toEqual([{ path: '', message: 'the file cannot be read (EISDIR)' }]);
  });
});
