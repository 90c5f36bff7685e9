import { describe, expect, test } from '@jest/globals';
import { MongoNetworkError } from 'mongodb';
import { isStoreUnavailable } from './store-errors.ts';

/** The driver's own of this name is not exported: what a command gets whose connection was ended with its pool. */
class PoolClearedOnNetworkError extends MongoNetworkError {
  override get name(): string {
    return 'PoolClearedOnNetworkError';
  }
}

describe('the store is unavailable, so that the same request may succeed later', () => {
  test.each([
    ['a pool that was cleared under a command', new PoolClearedOnNetworkError('interrupted')],
    ['a socket that the other end has closed', Object.assign(new Error('ended'), { code: 'EPIPE' })],
    ['a connection that was reset', Object.assign(new Error('reset'), { code: 'ECONNRESET' })],
  ])('after %s', (_, error) => {
    expect(isStoreUnavailable(error)).toBe(true);
  });

  test.each([
    ['a mistake of ours', new TypeError('undefined is not a function')],
    ['an error of another kind', Object.assign(new Error('no such file'), { code: 'ENOENT' })],
    ['nothing', undefined],
  ])('but not after %s', (_, error) => {
    expect(isStoreUnavailable(error)).toBe(false);
  });
});
