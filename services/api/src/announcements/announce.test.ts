import type { DenyEntry, GatewayCommand } from '@auth-account/messaging';
import { createLogger } from '@auth-account/telemetry';
import { expect, test } from '@jest/globals';
import { createAnnounce } from './announce.ts';

test('the other stream that a logout closes is closed by a logout, however the session had ended before', async () => {
  const denied: DenyEntry[] = [];
  const published: GatewayCommand[] = [];
  const announce = createAnnounce({
    denyList: { deny: async (entries) => void denied.push(...entries) },
    publish: async (command) => void published.push(command),
    logger: createLogger({ service: 'api', level: 'silent' }),
    onLost: () => undefined,
  });
  const end = { reason: 'SESSION_REVOKED', requestId: 'request-1', at: new Date(1_000) } as const;
  await announce({ sessionIds: ['tablet'], ...end, alsoClose: 'phone' });
  const told = { requestId: 'request-1', decidedAt: 1_000, reason: 'SESSION_REVOKED' };
  expect(denied).toEqual([{ ...told, sessionId: 'tablet', denial: { kind: 'revoked', reason: 'SESSION_REVOKED' } }]);
  const close = { type: 'close', reason: 'LOGOUT_CONFIRMED', request_id: 'request-1', decided_at: 1_000 };
  expect(published).toEqual([{ ...close, session_id: 'phone' }]);
});
