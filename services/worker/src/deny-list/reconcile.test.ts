import type { RevokedSession } from '@auth-account/stores';
import { expect, test } from '@jest/globals';
import { createOtherStreams } from './reconcile.ts';

const logout: RevokedSession = {
  _id: 'tablet',
  revoked_at: new Date(1_000),
  revoked_reason: 'logout',
  revoked_request_id: 'request-1',
  revoked_also_close: 'phone',
};

test('the other stream of a logout is closed until that succeeds, and no other', () => {
  const others = createOtherStreams();
  const another = { ...logout, _id: 'television', revoked_also_close: 'watch' };
  const { revoked_also_close: _, ...alone } = { ...logout, _id: 'radio' };
  expect([logout, another, alone].map(others.of)).toEqual(['phone', 'watch', undefined]);
  others.remember([logout, alone]);
  expect([logout, another, alone].map(others.of)).toEqual([undefined, 'watch', undefined]);
});

test('logouts that no page shows any more are forgotten', () => {
  const others = createOtherStreams();
  others.remember([logout]);
  others.forget(1_000);
  expect(others.of(logout)).toBeUndefined();
  others.forget(1_001);
  expect(others.of(logout)).toBe('phone');
});
