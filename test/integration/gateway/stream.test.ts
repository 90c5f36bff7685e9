import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  type Device,
  type GatewayFixture,
  newDevice,
  openGatewayFixture,
  signToken,
  startReadyGateway,
  type TestGateway,
} from '../../support/gateway/gateway-fixture.ts';
import { openStream } from '../../support/gateway/push-client.ts';
import { openRawStream } from '../../support/gateway/raw-connection.ts';
import { type HoldingProxy, startHoldingProxy } from '../../support/stores/holding-proxy.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

let fixture: GatewayFixture;
let gateway: TestGateway;
/** Milliseconds by which the gateway's clock is ahead. */
let ahead = 0;
const now = () => Date.now() + ahead;

beforeAll(async () => {
  fixture = await openGatewayFixture();
  gateway = await startReadyGateway(fixture, {}, { now });
});

afterAll(async () => {
  await gateway.close();
  await fixture.close();
});

afterEach(() => {
  ahead = 0;
});

/** Opens a stream with a token of this lifetime, and reads its `hello`. */
async function openBriefly(ttlSeconds: number) {
  const device = newDevice();
  const client = await openStream(gateway.base, {
    ...device,
    token: await signToken(fixture.env, device, { ttlSeconds }),
  });
  await client.next();
  return client;
}

describe('silent clients', () => {
  test('a client that is silent is pinged, and its stream ends if it does not answer, and only then', async () => {
    const idle = await startReadyGateway(fixture, { PUSH_IDLE_TIMEOUT_SECONDS: '8' });
    const device = newDevice();
    const token = await signToken(fixture.env, device);
    const opcodes: number[] = [];
    const openMute = async (): Promise<{ readonly ended: Promise<unknown> }> => {
      const heard = Promise.withResolvers<void>();
      const stream = openRawStream(idle.base, { ...device, token }, ({ opcode }) => {
        opcodes.push(opcode);
        heard.resolve();
      });
      await Promise.race([heard.promise, stream.ended]);
      // See `openStream` about lost handshakes.
      return opcodes.length > 0 ? stream : openMute();
    };
    const mute = await openMute();
    // The pings of streams that were opened together go out over a second, and the library looks for silent ones every
    // four seconds.
    const pinged: Promise<boolean>[] = [];
    for (let n = 0; n < 80; n += 1) {
      const { socket, closed } = await idle.open(newDevice());
      pinged.push(Promise.race([once(socket, 'ping').then(() => true), closed.then(() => false)]));
      if (n % 10 === 9) await delay(500);
    }
    await mute.ended;
    expect([opcodes[0], ...new Set(opcodes.slice(1))]).toEqual([1, 9]);
    expect(await Promise.all(pinged)).toEqual(pinged.map(() => true));
    await eventually(
      'it is counted',
      async () => (await idle.metric('push_streams_closed_total', { reason: 'IDLE' })) > 0,
    );
    expect(await idle.metric('push_streams_closed_total', { reason: 'IDLE' })).toBe(1);
    await idle.close();
  });
});

describe('frames of the client', () => {
  test('a ping is answered with a pong', async () => {
    const client = await gateway.open(newDevice());
    client.send({ type: 'ping' });
    expect(await client.next()).toEqual({ type: 'pong' });
  });

  test.each([
    ['that are binary', Buffer.from('{"type":"ping"}')],
    ['that are no JSON', 'hello'],
    ['of an unknown type', '{"type":"message"}'],
    ['that are no object', '"ping"'],
    ['that lack a field', '{"type":"auth"}'],
  ])('frames %s end the stream with 1003', async (_name, frame) => {
    const client = await gateway.open(newDevice());
    client.socket.send(frame);
    expect(await client.closed).toEqual({ code: 1003, reason: 'UNSUPPORTED_DATA' });
  });

  test('frames of more than 16 KiB end the stream with 1009', async () => {
    const client = await gateway.open(newDevice());
    client.socket.send(' '.repeat(16 * 1024 + 1));
    expect(await client.closed).toEqual({ code: 1009, reason: 'MESSAGE_TOO_BIG' });
  });

  test('frames of exactly 16 KiB are read', async () => {
    const client = await gateway.open(newDevice());
    const ping = '{"type":"ping"}';
    client.socket.send(ping.padEnd(16 * 1024, ' '));
    expect(await client.next()).toEqual({ type: 'pong' });
  });

  // guarantees: close-without-frame
  test('frames of more than 64 KiB, or in text that is not UTF-8, end the connection without a close frame', async () => {
    const long = await gateway.open(newDevice());
    long.socket.send(' '.repeat(64 * 1024 + 1));
    expect((await long.closed).code).toBe(1006);
    const client = await gateway.open(newDevice());
    client.socket.send(Buffer.from([0x22, 0xff, 0xfe, 0x22]), { binary: false });
    await client.closed;
    await eventually('the count', async () => {
      return (await gateway.metric('push_streams_closed_total', { reason: 'INVALID_UTF8' })) === 1;
    });
  });
});

describe('the end of the token', () => {
  // guarantees: stream-closes-after-token
  test('the end of a token closes its stream 30 s later, and no other stream', async () => {
    const client = await openBriefly(30);
    const later = await openBriefly(60);
    ahead = 45_000;
    client.send({ type: 'ping' });
    expect((await client.next()).type).toBe('pong');
    ahead = 61_500;
    expect(await client.closed).toEqual({ code: 4002, reason: 'TOKEN_EXPIRED' });
    expect(later.isOpen()).toBe(true);
  });
});

describe('an auth frame', () => {
  const auth = async (device: Device, options?: Parameters<typeof signToken>[2]) => ({
    type: 'auth',
    access_token: await signToken(fixture.env, device, options),
  });

  test('an auth frame with a new token of the session extends the stream', async () => {
    const device = newDevice();
    const client = await openStream(gateway.base, {
      ...device,
      token: await signToken(fixture.env, device, { ttlSeconds: 10 }),
    });
    const witness = await openBriefly(10);
    const hello = await client.next();
    client.send(await auth(device));
    const answer = await client.next();
    expect(answer).toEqual({ type: 'auth_ok', expires_at: expect.any(String) });
    expect(Date.parse(String(answer.expires_at)) - Date.parse(String(hello.expires_at))).toBeGreaterThan(580_000);
    ahead = 45_000;
    expect((await witness.closed).code).toBe(4002);
    expect(client.isOpen()).toBe(true);
  });

  test('an auth frame with an older token does not shorten the stream', async () => {
    const device = newDevice();
    const client = await gateway.open(device);
    client.send(await auth(device, { ttlSeconds: 60 }));
    const answer = await client.next();
    expect(answer.type).toBe('auth_ok');
    expect(Date.parse(String(answer.expires_at)) - Date.now()).toBeGreaterThan(500_000);
  });

  // guarantees: stream-closes-after-token
  test('an auth frame with a bad token, or one of another session, gets an error and changes nothing', async () => {
    const device = newDevice();
    const client = await gateway.open(device);
    client.send({ type: 'auth', access_token: 'nonsense' });
    expect(await client.next()).toEqual({ type: 'error', error_code: 'IAD_JWT_ACCESS_INVALID' });
    client.send(await auth(device, { now: () => Date.now() - 700_000 }));
    expect(await client.next()).toEqual({ type: 'error', error_code: 'IAD_JWT_ACCESS_EXPIRED' });
    client.send(await auth(newDevice({ userId: device.userId, groupId: device.groupId })));
    expect(await client.next()).toEqual({ type: 'error', error_code: 'ERR-STREAM-SESSION-MISMATCH' });
    expect(client.isOpen()).toBe(true);
  });

  test('an auth frame with a newer token of another group closes the stream as the change of group would', async () => {
    const device = newDevice();
    const client = await gateway.open(device);
    client.send(await auth({ ...device, groupId: randomUUID(), ver: 2 }));
    expect(await client.closed).toEqual({ code: 4004, reason: 'GROUP_CHANGED' });
  });

  test('an auth frame of a session that is denied closes the stream as the deny list says', async () => {
    const quiet = await startReadyGateway(fixture, { RECONCILE_INTERVAL_MS: '4000' });
    const device = newDevice();
    const client = await quiet.open(device);
    await fixture.denySilently(device, 'none:LOGOUT_CONFIRMED');
    client.send(await auth(device));
    expect(await client.closed).toEqual({ code: 1000, reason: 'LOGOUT_CONFIRMED' });
    await quiet.close();
  });

  test('an auth frame is refused while another one is handled', async () => {
    const device = newDevice();
    const client = await gateway.open(device);
    const frame = await auth(device);
    client.send(frame);
    client.send(frame);
    expect([(await client.next()).type, (await client.next()).type].toSorted()).toEqual(['auth_ok', 'error']);
  });
});

describe('an auth frame while Redis is away', () => {
  let proxy: HoldingProxy;

  beforeEach(async () => {
    proxy = await startHoldingProxy(Number(new URL(testEnvironment().redisUrl).port));
  });

  afterEach(() => proxy.close());

  test('an auth frame while Redis is away neither extends nor ends the stream', async () => {
    const cut = await startReadyGateway(fixture, { REDIS_URL: proxy.url });
    const device = newDevice();
    const client = await cut.open(device);
    proxy.cut();
    await eventually('the loss of Redis', async () => (await cut.unreadiness()).length > 0);
    client.send({ type: 'auth', access_token: await signToken(fixture.env, device) });
    expect(await client.next()).toEqual({ type: 'error', error_code: 'ERR-DEPENDENCY-UNAVAILABLE' });
    proxy.fix();
    await eventually('readiness', async () => (await cut.unreadiness()).length === 0);
    client.send({ type: 'auth', access_token: await signToken(fixture.env, device) });
    expect(await client.next()).toMatchObject({ type: 'auth_ok' });
    await cut.close();
  });
});

describe('a second connection of a session', () => {
  // guarantees: second-connection-replaces
  test('a second connection of a session replaces the first', async () => {
    const device = newDevice();
    const first = await gateway.open(device);
    const second = await gateway.open(device);
    expect(await first.closed).toEqual({ code: 4003, reason: 'STREAM_REPLACED' });
    second.send({ type: 'ping' });
    expect(await second.next()).toEqual({ type: 'pong' });
    await fixture.publishClose(device, 'LOGOUT_CONFIRMED');
    expect((await second.closed).code).toBe(1000);
  });

  test('a second connection of a session on another gateway replaces the first', async () => {
    const other = await startReadyGateway(fixture);
    const device = newDevice();
    const first = await other.open(device);
    const second = await gateway.open(device);
    expect(await first.closed).toEqual({ code: 4003, reason: 'STREAM_REPLACED' });
    const third = await other.open(device);
    expect(await second.closed).toEqual({ code: 4003, reason: 'STREAM_REPLACED' });
    expect(third.isOpen()).toBe(true);
    await other.close();
  });

  test('second connections of many sessions that move to another gateway at once replace the first of each', async () => {
    const other = await startReadyGateway(fixture);
    const devices = Array.from({ length: 40 }, () => newDevice());
    const before = await Promise.all(devices.map((device) => gateway.open(device)));
    const after = await Promise.all(devices.map((device) => other.open(device)));
    const ends = await Promise.all(before.map(({ closed }) => closed));
    expect(new Set(ends.map(({ code }) => code))).toEqual(new Set([4003]));
    expect(after.every((client) => client.isOpen())).toBe(true);
    await other.close();
  });

  // guarantees: second-connection-replaces
  test('a second connection of a session is not harmed by a late word of an older one', async () => {
    const device = newDevice();
    const client = await gateway.open(device);
    const announce = (stream_number: number) =>
      fixture.publish({ type: 'replace', streams: [{ session_id: device.sessionId, stream_number }] });
    await announce(1);
    await announce(Number.MAX_SAFE_INTEGER);
    expect((await client.closed).code).toBe(4003);
    expect(await gateway.metric('push_commands_total', { result: 'malformed' })).toBe(0);
  });
});
