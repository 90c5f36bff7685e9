import type { GatewayCommand } from '@auth-account/messaging/commands';
import { createLogger } from '@auth-account/telemetry';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Redis } from 'ioredis';
import { createAnnounce } from '../../../services/api/src/announcements/announce.ts';
import { type GatewayFixture, openGatewayFixture } from '../../support/gateway/gateway-fixture.ts';
import { patienceMs } from '../../support/test-environment.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

let fixture: GatewayFixture;
let listening: Redis;
const published: GatewayCommand[] = [];

beforeAll(async () => {
  fixture = await openGatewayFixture();
  listening = fixture.redis.duplicate();
  listening.on('message', (_, message) => published.push(JSON.parse(message)));
  await listening.subscribe(fixture.keys.commands);
});
afterAll(async () => {
  listening.disconnect();
  await fixture.close();
});

test('the other stream that a logout closes is closed by a logout, however the session had ended before', async () => {
  const announce = createAnnounce({
    denyList: fixture.denyList,
    logger: createLogger({ service: 'api', level: 'silent' }),
    onLost: () => undefined,
    waitMs: patienceMs,
  });
  const end = { reason: 'SESSION_REVOKED', requestId: 'request-1', at: new Date(1_000) } as const;
  await announce({ sessionIds: ['tablet'], ...end, alsoClose: 'phone' });
  await eventually('both are published', () => published.length === 2);
  const close = { type: 'close', request_id: 'request-1', decided_at: 1_000 };
  expect(published).toEqual([
    { ...close, session_id: 'tablet', reason: 'SESSION_REVOKED' },
    { ...close, session_id: 'phone', reason: 'LOGOUT_CONFIRMED' },
  ]);
  const denied = await fixture.denyList.find(['tablet', 'phone']);
  expect(denied).toEqual([{ kind: 'revoked', reason: 'SESSION_REVOKED' }, undefined]);
});
