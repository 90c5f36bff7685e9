import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LocalRedis, startRedis } from '@auth-account/local-stack';
import type { DenyList } from '@auth-account/messaging/deny-list';
import { createLogger, createMetrics } from '@auth-account/telemetry';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createReconcile } from '../../../services/push-gateway/src/commands/reconcile.ts';
import { createPushMetrics } from '../../../services/push-gateway/src/runtime/metrics.ts';
import { createConnectionRegistry } from '../../../services/push-gateway/src/streams/connection-registry.ts';
import { closingAll } from '../../support/closing.ts';
import { closeBoundMs } from '../../support/gateway/close-bound.ts';
import {
  type GatewayFixture,
  newDevice,
  openGatewayFixture,
  signToken,
  startReadyGateway,
  type TestGateway,
} from '../../support/gateway/gateway-fixture.ts';
import { refusalOf } from '../../support/gateway/push-client.ts';
import { type HoldingProxy, startHoldingProxy } from '../../support/stores/holding-proxy.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

/** An interval so long that no test succeeds because of it. */
const rarely = { RECONCILE_INTERVAL_MS: '4000' };

const isReady = async (gateway: TestGateway) => (await gateway.unreadiness()).length === 0;

describe('a close command', () => {
  let fixture: GatewayFixture;
  let gateway: TestGateway;

  beforeAll(async () => {
    fixture = await openGatewayFixture();
    gateway = await startReadyGateway(fixture, rarely);
  });

  afterAll(async () => {
    await gateway.close();
    await fixture.close();
  });

  test('a close command closes the stream with the code and the reason of a logout, and its latency is measured', async () => {
    const device = newDevice();
    const client = await gateway.open(device);
    await fixture.publishClose(device, 'LOGOUT_CONFIRMED');
    expect(await client.closed).toEqual({ code: 1000, reason: 'LOGOUT_CONFIRMED' });
    const closed = (reason: string) => gateway.metric('push_streams_closed_total', { reason });
    await eventually('no stream is open', async () => (await gateway.metric('push_streams_open')) === 0);
    expect(await closed('LOGOUT_CONFIRMED')).toBe(1);
    expect(await gateway.metric('push_close_latency_seconds', { le: '+Inf' })).toBe(1);
  });

  test('a close command of one device leaves the user’s other device and the rest of the group connected', async () => {
    const phone = newDevice();
    const tablet = newDevice({ userId: phone.userId, groupId: phone.groupId });
    const partner = newDevice({ groupId: phone.groupId });
    const [client, other, member] = [
      await gateway.open(phone),
      await gateway.open(tablet),
      await gateway.open(partner),
    ];
    await fixture.denyAndClose(phone, { kind: 'revoked', reason: 'SESSION_REVOKED' });
    expect(await client.closed).toEqual({ code: 4001, reason: 'SESSION_REVOKED' });
    for (const stayed of [other, member]) {
      stayed.send({ type: 'ping' });
      expect(await stayed.next()).toEqual({ type: 'pong' });
    }
  });

  test('a close command of a change of group closes with 4004, and spares a stream that has moved on before it came', async () => {
    const [behind, ahead] = [newDevice(), newDevice({ ver: 2 })];
    const [left, stayed] = [await gateway.open(behind), await gateway.open(ahead)];
    for (const device of [ahead, behind]) await fixture.denyAndClose(device, { kind: 'below', ver: 2 });
    expect(await left.closed).toEqual({ code: 4004, reason: 'GROUP_CHANGED' });
    stayed.send({ type: 'ping' });
    expect(await stayed.next()).toEqual({ type: 'pong' });
    const refusal = await refusalOf(gateway.base, { ...behind, token: await signToken(fixture.env, behind) });
    expect(refusal).toMatchObject({ status: 401, body: { error_code: 'IAD_JWT_ACCESS_INVALID' } });
  });

  test('a close command that is doubled, or for a session without a stream, does nothing', async () => {
    const device = newDevice();
    const client = await gateway.open(device);
    const before = await gateway.metric('push_commands_total', { result: 'ignored' });
    await fixture.publishClose(newDevice(), 'LOGOUT_CONFIRMED');
    await fixture.publishClose(device, 'LOGOUT_CONFIRMED');
    await fixture.publishClose(device, 'SESSION_REVOKED');
    expect((await client.closed).code).toBe(1000);
    await eventually('three commands', async () => {
      return (await gateway.metric('push_commands_total', { result: 'ignored' })) === before + 3; // with our own `replace`
    });
  });

  test('a close command that is malformed is counted, and the next one is obeyed', async () => {
    const device = newDevice();
    const client = await gateway.open(device);
    for (const message of ['', 'nonsense', '{"type":"close"}', '[]', '{"type":"close","session_id":7}']) {
      await fixture.redis.publish(fixture.keys.commands, message);
    }
    await fixture.publishClose(device, 'LOGOUT_CONFIRMED');
    expect((await client.closed).code).toBe(1000);
    expect(await gateway.metric('push_commands_total', { result: 'malformed' })).toBe(5);
  });
});

describe('a close command whose message was lost', () => {
  // guarantees: stream-closes
  test('a close command whose message was lost is made up for within the reconcile interval', async () => {
    const fixture = await openGatewayFixture();
    const gateway = await startReadyGateway(fixture, { RECONCILE_INTERVAL_MS: '200' });
    const [leaver, mover, stayer] = [newDevice(), newDevice(), { ...newDevice(), ver: 2 }];
    const [left, moved, stayed] = [await gateway.open(leaver), await gateway.open(mover), await gateway.open(stayer)];
    const renewer = newDevice();
    const replaced = await gateway.open(renewer);
    await eventually('a round of recent revocations', async () => {
      return (await gateway.metric('push_reconcile_rounds_total', { kind: 'recent', result: 'done' })) > 0;
    });
    const since = performance.now();
    await fixture.denySilently(leaver, 'none:LOGOUT_CONFIRMED');
    await fixture.denySilently(renewer, 'none:SESSION_REPLACED');
    await fixture.denySilently(mover, '2');
    await fixture.denySilently(stayer, '2');
    expect(await left.closed).toEqual({ code: 1000, reason: 'LOGOUT_CONFIRMED' });
    expect(await replaced.closed).toEqual({ code: 4005, reason: 'SESSION_REPLACED' });
    expect(await moved.closed).toEqual({ code: 4004, reason: 'GROUP_CHANGED' });
    expect(performance.now() - since).toBeLessThan(closeBoundMs);
    expect(stayed.isOpen()).toBe(true);
    expect(await gateway.metric('push_reconcile_closed_total')).toBe(3);
    await gateway.close();
    await fixture.close();
  });
});

describe('close commands lost while Redis’s clock is set back', () => {
  // guarantees: stream-closes
  test.concurrent.each([8_000, 1_500])(
    'a close command that is lost as Redis’s clock is set back by %s ms is made up for by the next rounds',
    (backMs) =>
      closingAll(async (closing) => {
        const fixture = closing(await openGatewayFixture());
        let ahead = backMs;
        const denyList: Pick<DenyList, 'find' | 'recent'> = {
          find: fixture.denyList.find,
          async recent(since) {
            const { sessionIds, until } = await fixture.denyList.recent(since - ahead);
            return { sessionIds, until: until + ahead };
          },
        };
        const metrics = createPushMetrics(createMetrics({ service: 'push-gateway' }), () => 0);
        const recentRounds = async () => {
          const { values } = await metrics.reconcileRounds.get();
          return values.find(({ labels }) => labels.kind === 'recent' && labels.result === 'done')?.value ?? 0;
        };
        const registry = createConnectionRegistry();
        const logger = createLogger({ service: 'push-gateway', level: 'silent' });
        // The interval is longer than a round reads back.
        const reconcile = createReconcile({ registry, denyList, intervalMs: 1_500, metrics, logger });
        closing({ close: reconcile.stop });
        reconcile.start();
        await eventually('a round of recent revocations', async () => (await recentRounds()) > 0);
        const device = newDevice();
        const upgrade = registry.beginUpgrade(device);
        ahead = 0;
        await fixture.denySilently(device, 'none:LOGOUT_CONFIRMED');
        const before = await recentRounds();
        await eventually('two rounds', async () => (await recentRounds()) >= before + 2);
        expect(upgrade.closedBy).toBe('LOGOUT_CONFIRMED');
      })(),
  );
});

test('a revocation for a reason that only a newer api knows closes the stream with 4001', async () => {
  const fixture = await openGatewayFixture();
  const gateway = await startReadyGateway(fixture, { RECONCILE_INTERVAL_MS: '200' });
  const device = newDevice();
  const client = await gateway.open(device);
  await fixture.denySilently(device, 'none:REASON_OF_TOMORROW');
  expect(await client.closed).toEqual({ code: 4001, reason: 'SESSION_REVOKED' });
  await gateway.close();
  await fixture.close();
});

describe('a session that is closed while its upgrade is under way', () => {
  // guarantees: no-stream-for-ended-session
  test('a session that is closed during its upgrade gets no stream, although the deny list had nothing when it was asked', async () => {
    const { port } = new URL(testEnvironment().redisUrl);
    const proxy = await startHoldingProxy(Number(port));
    const fixture = await openGatewayFixture();
    const gateway = await startReadyGateway(fixture, { ...rarely, REDIS_URL: proxy.url });

    const device = newDevice();
    const token = await signToken(fixture.env, device);
    proxy.hold(`denied:${device.sessionId}`);
    const refused = refusalOf(gateway.base, { ...device, token });
    await eventually('the question to the deny list', () => proxy.held() === 1);
    await fixture.publishClose(device, 'LOGOUT_CONFIRMED');
    await eventually('the command', async () => {
      return (await gateway.metric('push_commands_total', { result: 'applied' })) === 1;
    });
    proxy.release();
    expect(await refused).toMatchObject({ status: 401, body: { error_code: 'IAD_JWT_ACCESS_INVALID' } });
    expect(await gateway.metric('push_streams_opened_total')).toBe(0);

    await gateway.close();
    await fixture.close();
    await proxy.close();
  });
});

describe('a gateway that is cut off from Redis', () => {
  let fixture: GatewayFixture;
  let gateway: TestGateway;
  let proxy: HoldingProxy;

  beforeEach(async () => {
    proxy = await startHoldingProxy(Number(new URL(testEnvironment().redisUrl).port));
    fixture = await openGatewayFixture();
    gateway = await startReadyGateway(fixture, { ...rarely, REDIS_URL: proxy.url });
  });

  afterEach(async () => {
    await gateway.close();
    await fixture.close();
    await proxy.close();
  });

  // guarantees: streams-survive-redis
  test('a gateway that is cut off from Redis keeps its streams, refuses upgrades, and closes what was revoked afterwards', async () => {
    const [device, other] = [newDevice(), newDevice()];
    const [client, stayed] = [await gateway.open(device), await gateway.open(other)];
    proxy.cut();
    await eventually('the loss of Redis', async () => !(await isReady(gateway)));
    await fixture.denyAndClose(device, { kind: 'revoked', reason: 'LOGOUT_CONFIRMED' });
    const token = await signToken(fixture.env, device);
    const refusal = await refusalOf(gateway.base, { ...device, token });
    expect(refusal).toMatchObject({ status: 503, body: { error_code: 'ERR-DEPENDENCY-UNAVAILABLE' } });
    expect(Number(refusal.headers['retry-after'])).toBeGreaterThan(0);
    expect(client.isOpen()).toBe(true);

    const since = performance.now();
    proxy.fix();
    expect(await client.closed).toEqual({ code: 1000, reason: 'LOGOUT_CONFIRMED' });
    expect(performance.now() - since).toBeLessThan(closeBoundMs);
    expect(stayed.isOpen()).toBe(true);
    await eventually('readiness', () => isReady(gateway));
  });
});

describe('a Redis that is killed and started again', () => {
  let dir: string;
  let server: LocalRedis;
  let fixture: GatewayFixture;
  let gateway: TestGateway;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'gateway-redis-'));
    server = await startRedis({ dir, log: () => undefined });
    fixture = await openGatewayFixture(server.url);
    gateway = await startReadyGateway(fixture, rarely);
  });

  afterAll(async () => {
    await gateway.close();
    await fixture.close();
    await server.kill();
    await rm(dir, { recursive: true, force: true });
  });

  test('a Redis that is started again counts as away until its deny list is complete; then revoked sessions are closed', async () => {
    const [device, other] = [newDevice(), newDevice()];
    const [client, stayed] = [await gateway.open(device), await gateway.open(other)];
    await server.kill();
    await eventually('the loss of Redis', async () => !(await isReady(gateway)));
    await server.start();
    await eventually('the connection', async () => {
      return (await gateway.unreadiness()).join() === 'deny list: not complete: the worker writes it';
    });
    const token = await signToken(fixture.env, other);
    const refusal = await refusalOf(gateway.base, { ...other, token });
    expect(refusal).toMatchObject({ status: 503, body: { error_code: 'ERR-DEPENDENCY-UNAVAILABLE' } });

    await fixture.denySilently(device, 'none:SESSION_REVOKED');
    await fixture.completeDenyList();
    expect(await client.closed).toEqual({ code: 4001, reason: 'SESSION_REVOKED' });
    expect(stayed.isOpen()).toBe(true);
    await eventually('readiness', () => isReady(gateway));
    // Shows that commands are received again.
    await fixture.publishClose(other, 'LOGOUT_CONFIRMED');
    expect(await stayed.closed).toEqual({ code: 1000, reason: 'LOGOUT_CONFIRMED' });
  });

  test('a Redis that lost its data lets a new connection of a session replace the old one, as ever', async () => {
    const device = newDevice();
    const old = await gateway.open(device);
    await fixture.redis.flushall();
    await fixture.completeDenyList();
    const renewed = await gateway.open(device);
    expect(await old.closed).toEqual({ code: 4003, reason: 'STREAM_REPLACED' });
    expect(renewed.isOpen()).toBe(true);
  });
});
