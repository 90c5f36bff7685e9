import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type GatewayFixture,
  newDevice,
  openGatewayFixture,
  signToken,
  startReadyGateway,
  startTestGateway,
} from '../../support/gateway/gateway-fixture.ts';
import { openStream, refusalOf } from '../../support/gateway/push-client.ts';
import { get } from '../../support/http-client.ts';
import { startGatewayProcess } from '../../support/processes/service-process.ts';
import { recordLog } from '../../support/recorded-log.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

let fixture: GatewayFixture;

beforeAll(async () => {
  fixture = await openGatewayFixture();
});

afterAll(() => fixture.close());

const readyStatus = async (opsBase: string) => (await get(opsBase, '/readyz')).status;

async function open(base: string, device = newDevice()) {
  return openStream(base, { ...device, token: await signToken(fixture.env, device) });
}

describe('a gateway that gets SIGTERM', () => {
  test('a gateway that gets SIGTERM closes its streams with 1001 SERVER_DRAINING and exits with 0, early if they are few', async () => {
    const gateway = await startGatewayProcess({ ...fixture.env, DRAIN_SECONDS: '6', LOG_LEVEL: 'info' });
    await eventually('readiness', async () => (await readyStatus(gateway.opsBase)) === 200);
    const clients = await Promise.all(Array.from({ length: 10 }, () => open(gateway.base)));
    gateway.signal('SIGTERM');
    for (const client of clients) {
      expect(await client.closed).toEqual({ code: 1001, reason: 'SERVER_DRAINING' });
    }
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    // The drain plans 1 ms for each, by the default rate of reconnects.
    expect(gateway.output()).toMatch(/"streams":10,"closingMs":10,/);
  });

  test('a gateway that gets SIGTERM spreads many closes over its time, and refuses new streams meanwhile', async () => {
    const { logger, lines } = recordLog('push-gateway', 'debug');
    const settings = { DRAIN_SECONDS: '3', DRAIN_RECONNECTS_PER_SECOND: '10' };
    const gateway = await startReadyGateway(fixture, settings, {}, logger);
    const clients = await Promise.all(Array.from({ length: 200 }, () => open(gateway.base)));
    const device = newDevice();
    const token = await signToken(fixture.env, device);
    const since = performance.now();
    const closing = gateway.close();
    await clients[0]?.closed;
    const refusal = await refusalOf(gateway.base, { ...device, token });
    expect(refusal).toMatchObject({ status: 503, body: { error_code: 'ERR-OVERLOADED' } });
    expect(Number(refusal.headers['retry-after'])).toBeGreaterThan(0);
    for (const { closed } of clients) expect(await closed).toEqual({ code: 1001, reason: 'SERVER_DRAINING' });
    await closing;
    // The reconnects would take 20 s.
    expect(lines).toContainEqual(expect.objectContaining({ streams: 200, closingMs: 3_000, reconnectMs: 20_000 }));
    expect(performance.now() - since).toBeGreaterThan(2_900);
  });

  // guarantees: stop-despite-faults
  test('a gateway that gets SIGTERM exits with 0 within its limit, with Redis away too', async () => {
    const gateway = await startGatewayProcess({ ...fixture.env, REDIS_URL: 'redis://127.0.0.1:1' });
    const { checks } = (await get(gateway.opsBase, '/readyz')).json as { checks: unknown[] };
    expect(checks).toEqual([
      expect.objectContaining({ name: 'lifecycle', ok: true }),
      expect.objectContaining({ name: 'redis', ok: false }),
      expect.objectContaining({ name: 'deny list', ok: false }),
      expect.objectContaining({ name: 'streams', ok: true }),
      expect.objectContaining({ name: 'messages', ok: true }),
    ]);
    gateway.signal('SIGTERM');
    // The gateway limits the time of its shutdown: after 10 s it exits with 1.
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });
});

describe('a gateway whose configuration is wrong', () => {
  // guarantees: no-start-with-wrong-config
  test('a gateway whose configuration is wrong does not start', async () => {
    await expect(startGatewayProcess({ ...fixture.env, PUSH_PORT: 'none' })).rejects.toThrow(
      'ended before it listened',
    );
  });
});

describe('a port that is taken', () => {
  test('a port that is taken is an error, not a port shared by two', async () => {
    const first = await startTestGateway(fixture);
    const { port } = new URL(first.base);
    await expect(startTestGateway(fixture, { PUSH_PORT: port })).rejects.toThrow(port);
    await first.close();
  });
});
