import { expect, test } from '@jest/globals';
import { takeOptions } from './store-options.ts';

test('arguments without stores are passed to Jest unchanged', () => {
  expect(takeOptions(['libs/config', '--json'])).toMatchObject({ stores: [], rest: ['libs/config', '--json'] });
});

test.each([[['--stores', 'redis-8,valkey-9', 'libs/redis']], [['libs/redis', '--stores=redis-8,valkey-9']]])(
  'the arguments %j name two stores, and the rest is passed to Jest',
  (args) => {
    expect(takeOptions(args)).toMatchObject({ stores: ['redis-8', 'valkey-9'], rest: ['libs/redis'] });
  },
);

test.each([[['--stores']], [['--stores', 'redis-7']], [['--stores', 'redis-8,toString']]])(
  'the arguments %j are refused',
  (args) => {
    expect(() => takeOptions(args)).toThrow('--stores takes redis-8,valkey-9,mongodb-6.0.27,mongodb-8.0');
  },
);
