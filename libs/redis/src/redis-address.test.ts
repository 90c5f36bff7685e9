import { describe, expect, test } from '@jest/globals';
import { parseRedisAddress } from './redis-address.ts';

const plain = {
  kind: 'single',
  isTls: false,
  username: undefined,
  password: undefined,
  db: 0,
  sentinelName: undefined,
};

describe('parseRedisAddress', () => {
  test.each([
    ['redis://cache', { nodes: [{ host: 'cache', port: 6379 }] }],
    ['redis://127.0.0.1:6479/3', { nodes: [{ host: '127.0.0.1', port: 6479 }], db: 3 }],
    ['rediss://[::1]:6380/', { isTls: true, nodes: [{ host: '::1', port: 6380 }] }],
    ['redis://:p%40ss@cache', { password: 'p@ss', nodes: [{ host: 'cache', port: 6379 }] }],
    ['redis://auth:a:b@cache', { username: 'auth', password: 'a:b', nodes: [{ host: 'cache', port: 6379 }] }],
    [
      'rediss+cluster://auth:secret@a:7000,b:7001,c',
      {
        ...{ kind: 'cluster', isTls: true, username: 'auth', password: 'secret' },
        nodes: [
          { host: 'a', port: 7000 },
          { host: 'b', port: 7001 },
          { host: 'c', port: 6379 },
        ],
      },
    ],
    [
      'redis+sentinel://:secret@s1,s2:26380/my%2Dmaster/2',
      {
        ...{ kind: 'sentinel', password: 'secret', db: 2, sentinelName: 'my-master' },
        nodes: [
          { host: 's1', port: 26_379 },
          { host: 's2', port: 26_380 },
        ],
      },
    ],
  ])('parseRedisAddress reads %s', (url, expected) => {
    expect(parseRedisAddress(url)).toEqual({ ...plain, ...expected });
  });

  test.each([
    ['http://cache', 'REDIS_URL is no redis://'],
    ['redis://', 'REDIS_URL is no redis://'],
    ['redis://a,b', 'one host'],
    ['redis://a:port', 'a host is malformed'],
    ['redis://cache/database', 'the database is no number'],
    ['redis+sentinel://s1', 'ends with /name'],
    ['redis+cluster://a/1', 'database 0 only'],
    ['redis+unix://a', 'REDIS_URL is no redis://'],
    ['redis://u:S3C@RET@h:1', 'a host is malformed'],
    ['redis+cluster://a,b c', 'a host is malformed'],
    ['redis+sentinel://u:1/RET@s1', 'REDIS_URL is no redis://'],
    ['redis://cache:65536', 'a port is too high'],
  ])('parseRedisAddress refuses %s', (url, message) => {
    expect(() => parseRedisAddress(url)).toThrow(message);
  });

  test('parseRedisAddress never repeats the URL, which holds a password', () => {
    for (const url of ['redis://u:hunter2@a:port', 'redis+sentinel://:hunter2@s1', 'x://u:hunter2@h']) {
      expect(() => parseRedisAddress(url)).toThrow(
        expect.objectContaining({ message: expect.not.stringContaining('hunter2') }),
      );
    }
  });
});
