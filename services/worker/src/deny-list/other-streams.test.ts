import type { GatewayCommand } from '@auth-account/messaging';
import type { RevokedSession } from '@auth-account/stores';
import { expect, test } from '@jest/globals';
import { createOtherStreams } from './other-streams.ts';

const logout = (fields: Partial<RevokedSession> = {}): RevokedSession => ({
  _id: 'tablet',
  revoked_at: new Date(1_000),
  revoked_reason: 'logout',
  revoked_request_id: 'request-1',
  revoked_also_close: 'phone',
  claims: { home_group_id: 'group' },
  ...fields,
});

function listen() {
  const told: GatewayCommand[] = [];
  return { told, others: createOtherStreams(async (command) => void told.push(command)) };
}

test('the other stream of a logout is closed as that logout closed its own', async () => {
  const { told, others } = listen();
  await others.close([logout()], [logout()]);
  const close = { type: 'close', reason: 'LOGOUT_CONFIRMED', request_id: 'request-1', decided_at: 1_000 };
  expect(told).toEqual([{ ...close, session_id: 'phone' }]);
});

test('a publish that failed is made again', async () => {
  let isAway = true;
  const told: GatewayCommand[] = [];
  const others = createOtherStreams(async (command) => {
    if (isAway) throw new Error('Redis is away');
    told.push(command);
  });
  await expect(others.close([logout()], [logout()])).rejects.toThrow('Redis is away');
  isAway = false;
  await others.close([logout()], [logout()]);
  expect(told).toHaveLength(1);
});

test('a publish that failed does not have another told again', async () => {
  const told: string[] = [];
  let isAway = true;
  const others = createOtherStreams(async (command) => {
    const to = 'session_id' in command ? command.session_id : '';
    if (isAway && to === 'watch') throw new Error('Redis is away');
    told.push(to);
  });
  const both = [logout(), logout({ _id: 'television', revoked_also_close: 'watch' })];
  await expect(others.close(both, both)).rejects.toThrow('Redis is away');
  isAway = false;
  await others.close(both, both);
  expect(told).toEqual(['phone', 'watch']);
});

test('logouts are forgotten that no page shows any more', async () => {
  const { told, others } = listen();
  await others.close([], [logout()]);
  others.forget(1_000);
  await others.close([logout()], [logout()]);
  expect(told).toEqual([]);
  others.forget(1_001);
  await others.close([logout()], [logout()]);
  expect(told).toHaveLength(1);
});
