import { createCloseRecorder, findCloseRecords } from '@auth-account/messaging/close-records';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type GatewayFixture,
  newDevice,
  openGatewayFixture,
  startReadyGateway,
  type TestGateway,
} from '../../support/gateway/gateway-fixture.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

let fixture: GatewayFixture;
let gateway: TestGateway;

beforeAll(async () => {
  fixture = await openGatewayFixture();
  gateway = await startReadyGateway(fixture);
});

afterAll(async () => {
  await gateway.close();
  await fixture.close();
});

const find = (requestId: string, since?: number) =>
  findCloseRecords(fixture.redis, fixture.keys, { requestId, ...(since === undefined ? {} : { since }) });

const close = (sessionId: string, requestId: string) =>
  fixture.publish({
    type: 'close',
    session_id: sessionId,
    reason: 'LOGOUT_CONFIRMED',
    request_id: requestId,
    decided_at: Date.now(),
  });

describe('a stream that is closed on a command', () => {
  test('a stream that is closed on a command is on record under the command’s request, once for each stream', async () => {
    const before = Date.now();
    const devices = [newDevice(), newDevice()];
    const clients = await Promise.all(devices.map((device) => gateway.open(device)));
    for (const { sessionId } of devices) await close(sessionId, 'logout-1');
    await close(newDevice().sessionId, 'logout-1');
    await Promise.all(clients.map(({ closed }) => closed));
    await eventually('two records', async () => (await find('logout-1')).length === 2);
    const records = await find('logout-1', before - 60_000);
    expect(new Set(records.map(({ sessionId }) => sessionId))).toEqual(
      new Set(devices.map(({ sessionId }) => sessionId)),
    );
    const record = records.find(({ sessionId }) => sessionId === devices[0]?.sessionId);
    expect(record).toEqual({
      requestId: 'logout-1',
      sessionId: devices[0]?.sessionId,
      code: 1000,
      reason: 'LOGOUT_CONFIRMED',
      at: expect.any(Number),
      latencyMs: expect.any(Number),
      gateway: expect.stringMatching(/./),
    });
    expect(record?.at).toBeGreaterThanOrEqual(before);
    expect(record?.latencyMs).toBeLessThan(Date.now() - before);
    expect(await find('logout-2')).toEqual([]);
    expect(await find('logout-1', Date.now() + 60_000)).toEqual([]);
  });

  test('a stream is closed even if its record cannot be written, and that is counted', async () => {
    const device = newDevice();
    const client = await gateway.open(device);
    const { closeRecords } = fixture.keys;
    await fixture.redis.set(closeRecords, 'no stream');
    await close(device.sessionId, 'logout-3');
    expect((await client.closed).code).toBe(1000);
    await eventually('the count', async () => (await gateway.metric('push_close_records_lost_total')) === 1);
    await fixture.redis.del(closeRecords);
  });
});

describe('the records', () => {
  test('the records are read page by page, and go after a day and when they are too many', async () => {
    const lost: number[] = [];
    const record = (now: () => number, requestId: string, count: number) => {
      const recorder = createCloseRecorder({ ...fixture, gateway: 'pod-1', onLost: (n) => lost.push(n), now });
      for (let index = 0; index < count; index += 1) {
        recorder.record({ requestId, sessionId: `s-${index}`, reason: 'SESSION_REVOKED', at: index, latencyMs: 1 });
      }
    };
    record(Date.now, 'many', 2_500);
    await eventually('all of them', async () => (await find('many')).length === 2_500);
    expect((await find('many')).map(({ at }) => at)).toEqual(Array.from({ length: 2_500 }, (_, index) => index));
    record(() => Date.now() + 25 * 60 * 60_000, 'tomorrow', 1);
    await eventually(
      'the end of the old ones',
      async () => (await fixture.redis.xlen(fixture.keys.closeRecords)) < 200,
    );
    // In pieces, because a script blocks the other tests that use this Redis.
    for (let piece = 0; piece < 101; piece += 1) {
      await fixture.redis.eval(
        "for i = 1, 1000 do redis.call('XADD', KEYS[1], '*', 'request_id', 'other') end",
        1,
        fixture.keys.closeRecords,
      );
    }
    record(Date.now, 'last', 1);
    await eventually('the surplus records are removed', async () => {
      return (await fixture.redis.xlen(fixture.keys.closeRecords)) < 100_200;
    });
    expect(await find('last')).toHaveLength(1);
    expect(lost).toEqual([]);
    expect(await fixture.redis.pttl(fixture.keys.closeRecords)).toBeGreaterThan(0);
  });
});
