import { expect, test } from '@jest/globals';
import { takeStores } from './store-options.ts';

test('arguments without stores are Jest’s as they are', () => {
  expect(takeStores(['libs/config', '--record'])).toEqual({
    stores: [],
    isRecorded: false,
    rest: ['libs/config', '--record'],
  });
});

test.each([
  [['--stores', 'redis-8,valkey-9', '--record', 'libs/redis']],
  [['libs/redis', '--stores=redis-8,valkey-9', '--record']],
])('%j names two stores, and what is left is Jest’s', (args) => {
  expect(takeStores(args)).toEqual({ stores: ['redis-8', 'valkey-9'], isRecorded: true, rest: ['libs/redis'] });
});

test.each([[['--stores']], [['--stores', 'redis-7']], [['--stores', 'redis-8,toString']]])('%j is refused', (args) => {
  expect(() => takeStores(args)).toThrow('--stores takes redis-8,valkey-9,mongodb-6.0.27,mongodb-8.0');
});
