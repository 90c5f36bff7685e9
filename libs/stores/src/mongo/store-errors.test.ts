import { describe, expect, test } from '@jest/globals';
import { MongoNetworkError } from 'mongodb';
import { isBrokenSocket, isStoreUnavailable } from './store-errors.ts';

/**
 * Error of a command whose connection was closed with its pool. The driver's own class of this name is not exported.
 */
class PoolClearedOnNetworkError extends MongoNetworkError {
  override get name(): string {
    return 'PoolClearedOnNetworkError';
  }
}

describe('unavailability of the store', () => {
  test('the store is unavailable after a pool that was cleared under a command', () => {
    expect(isStoreUnavailable(new PoolClearedOnNetworkError('interrupted'))).toBe(true);
  });

  test.each([
    ['a mistake of ours', new TypeError('undefined is not a function')],
    ['an error of another kind', Object.assign(new Error('no such file'), { code: 'ENOENT' })],
    ['a socket that broke, which may be anyone’s', Object.assign(new Error('ended'), { code: 'EPIPE' })],
    ['nothing', undefined],
  ])('the store is not unavailable after %s', (_, error) => {
    expect(isStoreUnavailable(error)).toBe(false);
  });
});

describe('broken sockets', () => {
  test.each(['EPIPE', 'ECONNRESET'])('a socket is broken after %s', (code) => {
    expect(isBrokenSocket(Object.assign(new Error('ended'), { code }))).toBe(true);
  });

  test.each([
    ['an error of another kind', Object.assign(new Error('no such file'), { code: 'ENOENT' })],
    ['an error without a code', new Error('EPIPE')],
    ['what is no error', { code: 'EPIPE' }],
  ])('a socket is not broken after %s', (_, error) => {
    expect(isBrokenSocket(error)).toBe(false);
  });
});
