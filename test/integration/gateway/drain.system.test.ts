import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startGatewayProcess } from '../../support/gateway-process.ts';
import {
  type GatewayScene,
  newDevice,
  openGatewayScene,
  signToken,
  startTestGateway,
} from '../../support/gateway-scene.ts';
import { get } from '../../support/http-client.ts';
import { openStream, refusalOf } from '../../support/push-client.ts';
import { type Stopwatch, startStopwatch } from '../../support/stopwatch.ts';
import { eventually } from '../../support/worker-scene.ts';

let scene: GatewayScene;

beforeAll(async () => {
  scene = await openGatewayScene();
});

afterAll(() => scene.close());

const readyStatus = async (opsBase: string) => (await get(opsBase, '/readyz')).status;

async function open(base: string, device = newDevice()) {
  return openStream(base, { ...device, token: await signToken(scene.env, device) });
}

describe('a gateway that is told to stop', () => {
  test('closes its streams with 1001 SERVER_DRAINING and exits with 0, quickly if they are few', async () => {
    const gateway = await startGatewayProcess({ ...scene.env, DRAIN_SECONDS: '6' });
    await eventually('readiness', async () => (await readyStatus(gateway.opsBase)) === 200);
    const clients = await Promise.all(Array.from({ length: 10 }, () => open(gateway.base)));
    const watch = startStopwatch();
    gateway.signal('SIGTERM');
    for (const client of clients) {
      expect(await client.closed).toEqual({ code: 1001, reason: 'SERVER_DRAINING' });
    }
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    expect(watch.stop()).toBeLessThan(5_500);
  });

  test('spreads the closing of many over the time it has, refuses new ones, and is not ready meanwhile', async () => {
    const gateway = await startTestGateway(scene, { DRAIN_SECONDS: '3', DRAIN_RECONNECTS_PER_SECOND: '10' });
    await eventually('readiness', async () => (await gateway.unreadiness()).length === 0);
    const clients = await Promise.all(Array.from({ length: 200 }, () => open(gateway.base)));
    const device = newDevice();
    const token = await signToken(scene.env, device);
    const ends: number[] = [];
    const since = performance.now();
    let watch: Stopwatch | undefined;
    const ended = clients.map(async ({ closed }) => {
      expect(await closed).toEqual({ code: 1001, reason: 'SERVER_DRAINING' });
      watch ??= startStopwatch();
      ends.push(performance.now() - since);
    });
    const closing = gateway.close();
    await clients[0]?.closed;
    const refusal = await refusalOf(gateway.base, { ...device, token });
    expect(refusal).toMatchObject({ status: 503, body: { error_code: 'ERR-OVERLOADED' } });
    expect(Number(refusal.headers['retry-after'])).toBeGreaterThan(0);
    await Promise.all(ended);
    expect(watch?.stop()).toBeLessThan(12_000); // at ten a second it would be 20 s
    await closing;
    expect(Math.max(...ends) - Math.min(...ends)).toBeGreaterThan(300);
  });

  test('falls from readiness at once and stops within 10 s with Redis away too', async () => {
    const gateway = await startGatewayProcess({
      ...scene.env,
      REDIS_URL: 'redis://127.0.0.1:1',
      SHUTDOWN_DELAY_SECONDS: '15',
    });
    const body = async () => (await get(gateway.opsBase, '/readyz')).json as { checks: { name: string }[] };
    expect(await body()).toMatchObject({
      ok: false,
      checks: [
        { name: 'lifecycle', ok: true },
        { name: 'redis', ok: false },
        { name: 'deny list', ok: false },
        { name: 'messages', ok: true },
      ],
    });
    gateway.signal('SIGTERM');
    await eventually('the fall of readiness', async () => {
      return (await body()).checks.some(
        (check) => check.name === 'lifecycle' && 'reason' in check && check.reason === 'stopping',
      );
    });
    // The gateway limits the time of its shutdown: after 10 s it exits with 1.
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  });
});

describe('a gateway whose configuration is wrong', () => {
  test('does not start', async () => {
    await expect(startGatewayProcess({ ...scene.env, PUSH_PORT: 'none' })).rejects.toThrow('ended before it listened');
  });
});

describe('a port that is taken', () => {
  test('is an error, not a port shared by two', async () => {
    const first = await startTestGateway(scene);
    const { port } = new URL(first.base);
    await expect(startTestGateway(scene, { PUSH_PORT: port })).rejects.toThrow(port);
    await first.close();
  });
});
