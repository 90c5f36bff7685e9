import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type Device,
  type GatewayFixture,
  newDevice,
  openGatewayFixture,
  signToken,
  startReadyGateway,
  type TestGateway,
} from '../../support/gateway/gateway-fixture.ts';
import { openStream, refusalOf } from '../../support/gateway/push-client.ts';
import { handshakeText, openSocket } from '../../support/gateway/raw-connection.ts';
import { type SentRequest, send } from '../../support/http-client.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

let fixture: GatewayFixture;
let gateway: TestGateway;

/**
 * Returns true if the device gets its stream. A stream's slot may be free only a moment after its end was seen or
 * counted.
 */
const opens = (from: TestGateway, device: Device) =>
  from.open(device).then(
    (client) => client.isOpen(),
    () => false,
  );

beforeAll(async () => {
  fixture = await openGatewayFixture();
  gateway = await startReadyGateway(fixture);
});

afterAll(async () => {
  await gateway.close();
  await fixture.close();
});

const tokenOf = (device: Device) => signToken(fixture.env, device);

describe('a handshake', () => {
  test('a handshake with the token in the Authorization header opens the stream, which begins with hello', async () => {
    const device = newDevice();
    const headers = { 'X-Request-ID': 'phone-1' };
    const client = await openStream(gateway.base, { ...device, token: await tokenOf(device), headers });
    expect(client.headers['x-request-id']).toBe('phone-1');
    expect(client.headers['sec-websocket-protocol']).toBeUndefined();
    expect(await client.next()).toEqual({
      type: 'hello',
      session_id: device.sessionId,
      home_group_id: device.groupId,
      expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    client.socket.close(1000);
    await eventually('the end of the stream', async () => (await gateway.metric('push_streams_open')) === 0);
  });

  test('a handshake with the session in capitals, as iOS prints UUIDs, opens the stream', async () => {
    const device = newDevice();
    const token = await tokenOf(device);
    const client = await openStream(gateway.base, { ...device, sessionId: device.sessionId.toUpperCase(), token });
    expect(await client.next()).toMatchObject({ type: 'hello', session_id: device.sessionId });
    client.socket.terminate();
  });

  test('a handshake with the token as second subprotocol opens the stream, and the answer does not repeat it', async () => {
    const device = newDevice();
    const subprotocols = ['bearer', await tokenOf(device)];
    const client = await openStream(gateway.base, { ...device, subprotocols });
    expect(client.socket.protocol).toBe('bearer');
    expect(client.headers['sec-websocket-protocol']).toBe('bearer');
    client.socket.terminate();
  });

  test('a handshake of a page with its token and 15 KB of cookies of its site opens the stream', async () => {
    const device = newDevice();
    const headers = { Cookie: `site=${'x'.repeat(15_000)}`, Origin: 'https://app.example.com' };
    const subprotocols = ['bearer', await tokenOf(device)];
    const client = await openStream(gateway.base, { ...device, subprotocols, headers });
    expect((await client.next()).type).toBe('hello');
    client.terminate();
  });

  test('a handshake with the same token in both places opens the stream', async () => {
    const device = newDevice();
    const token = await tokenOf(device);
    const client = await openStream(gateway.base, { ...device, token, subprotocols: ['bearer', token] });
    expect(client.isOpen()).toBe(true);
    client.socket.terminate();
  });

  test('a handshake with two different tokens is refused, though both are good', async () => {
    const device = newDevice();
    const subprotocols = ['bearer', await tokenOf(device)];
    const refusal = await refusalOf(gateway.base, { ...device, token: await tokenOf(device), subprotocols });
    expect(refusal).toMatchObject({ status: 401, body: { error_code: 'IAD_JWT_ACCESS_INVALID' } });
  });

  test('a handshake without a token is refused in the contract’s shape, with a new request id', async () => {
    const refusal = await refusalOf(gateway.base, newDevice());
    expect(refusal.status).toBe(401);
    expect(Object.keys(refusal.body)).toEqual(['error_code', 'message', 'details']);
    expect(refusal.body).toMatchObject({
      error_code: 'IAD_JWT_ACCESS_INVALID',
      details: { action: expect.any(String) },
    });
    expect(refusal.headers).toMatchObject({
      'content-type': 'application/json',
      'content-language': 'en',
      'www-authenticate': 'Bearer',
      'x-error-code': 'IAD_JWT_ACCESS_INVALID',
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  test('a handshake is refused in Russian if the app asks for it, and a malformed request id is not echoed', async () => {
    const headers = { 'Accept-Language': 'ru-RU', 'X-Request-ID': 'two words' };
    const refusal = await refusalOf(gateway.base, { ...newDevice(), headers });
    expect(refusal.headers['content-language']).toBe('ru');
    expect(refusal.body.message).toMatch(/[а-я]/);
    expect(refusal.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('a handshake with an expired token is refused with the code that makes the app refresh', async () => {
    const device = newDevice();
    const token = await signToken(fixture.env, device, { ttlSeconds: 60, now: () => Date.now() - 120_000 });
    const refusal = await refusalOf(gateway.base, { ...device, token });
    expect(refusal).toMatchObject({ status: 401, body: { error_code: 'IAD_JWT_ACCESS_EXPIRED' } });
    expect(refusal.headers['www-authenticate']).toContain('invalid_token');
  });

  // guarantees: stream-opens-for-token
  test('a handshake for the stream of another session is refused', async () => {
    const token = await tokenOf(newDevice());
    const refusal = await refusalOf(gateway.base, { ...newDevice(), token });
    expect(refusal).toMatchObject({ status: 403, body: { error_code: 'ERR-STREAM-SESSION-MISMATCH' } });
  });

  test('a handshake with a token that was good before needs no signature check, but is held against the deny list', async () => {
    const device = newDevice();
    const token = await tokenOf(device);
    const hits = () => gateway.metric('access_token_lookups_total', { result: 'hit' });
    const before = await hits();
    const first = await openStream(gateway.base, { ...device, token });
    const second = await openStream(gateway.base, { ...device, token });
    expect((await first.closed).code).toBe(4003);
    expect(await hits()).toBe(before + 1);
    await fixture.denySilently(device, 'none:LOGOUT_CONFIRMED');
    const refusal = await refusalOf(gateway.base, { ...device, token });
    expect(refusal).toMatchObject({ status: 401, body: { error_code: 'IAD_JWT_ACCESS_INVALID' } });
    expect(await hits()).toBe(before + 2);
    second.socket.terminate();
  });

  test('a handshake leaves no trace in the group’s count when it is refused or given up', async () => {
    const strict = await startReadyGateway(fixture, { MAX_STREAMS_PER_GROUP: '1' });
    const device = newDevice();
    await fixture.denyAndClose(device, { kind: 'revoked', reason: 'SESSION_REVOKED' });
    await refusalOf(strict.base, { ...device, token: await tokenOf(device) });
    const client = await strict.open(newDevice({ groupId: device.groupId }));
    expect(client.isOpen()).toBe(true);
    await strict.close();
  });
});

describe('the limit of handshakes per network', () => {
  test('the limit of handshakes refuses one more of a network with 429 before its token is read, and no other network', async () => {
    const env = { HANDSHAKE_LIMIT_PER_ADDRESS: '2', TRUST_PROXY_HOPS: '1' };
    const strict = await startReadyGateway(fixture, env);
    const from = async (address: string, token?: string) => {
      const headers = { 'X-Forwarded-For': address };
      return refusalOf(strict.base, { ...newDevice(), token, headers });
    };
    const flood = [await from('192.0.2.1'), await from('192.0.2.1'), await from('192.0.2.1', 'a.b.c')];
    expect(flood.map(({ status }) => status)).toEqual([401, 401, 429]);
    expect(flood[2]).toMatchObject({ body: { error_code: 'ERR-RATE-LIMITED' } });
    const retryAfter = Number(flood[2]?.headers['retry-after']);
    expect([retryAfter >= 1, retryAfter <= 60]).toEqual([true, true]);
    expect((await from('192.0.2.2')).status).toBe(401);
    expect(await strict.metric('push_upgrades_refused_total', { code: 'ERR-RATE-LIMITED' })).toBe(1);
    await strict.close();
  });
});

test('a gateway with as many streams as it may have refuses one more with 503, lets a reconnect in, and is not ready until one has ended', async () => {
  const small = await startReadyGateway(fixture, { MAX_STREAMS: '2' });
  const [first, second, third] = [newDevice(), newDevice(), newDevice()];
  const client = await small.open(first);
  await small.open(second);
  const refusal = await refusalOf(small.base, { ...third, token: await tokenOf(third) });
  expect(refusal).toMatchObject({ status: 503, body: { error_code: 'ERR-OVERLOADED' } });
  expect(Number(refusal.headers['retry-after'])).toBeGreaterThan(0);
  expect(await small.unreadiness()).toEqual([expect.stringContaining('no room')]);
  const again = await small.open(first);
  expect(await client.closed).toEqual({ code: 4003, reason: 'STREAM_REPLACED' });
  again.socket.close();
  await again.closed;
  await eventually('a free slot', () => opens(small, third));
  await small.close();
});

describe('the limit of streams per group', () => {
  test('the limit of streams refuses one more of a group with 429, lets a reconnect in, and frees a slot at a stream’s end', async () => {
    const strict = await startReadyGateway(fixture, { MAX_STREAMS_PER_GROUP: '2' });
    const first = newDevice();
    const second = newDevice({ groupId: first.groupId });
    const third = newDevice({ groupId: first.groupId });
    await strict.open(first);
    const client = await strict.open(second);
    const refusal = await refusalOf(strict.base, { ...third, token: await tokenOf(third) });
    expect(refusal).toMatchObject({ status: 429, body: { error_code: 'ERR-RATE-LIMITED' } });
    expect(Number(refusal.headers['retry-after'])).toBeGreaterThan(0);
    const again = await strict.open(second);
    expect(await client.closed).toEqual({ code: 4003, reason: 'STREAM_REPLACED' });
    again.socket.close();
    await again.closed;
    await eventually('a free slot', () => opens(strict, third));
    await strict.close();
  });
});

describe('the list of origins', () => {
  test('the list of origins refuses pages from elsewhere, and lets its own, the same host and apps pass', async () => {
    const strict = await startReadyGateway(fixture, { ALLOWED_ORIGINS: 'https://app.example,capacitor://localhost' });
    const attempt = async (headers: Record<string, string>) => {
      const device = newDevice();
      return { ...device, token: await tokenOf(device), headers };
    };
    const refusal = await refusalOf(strict.base, await attempt({ Origin: 'https://evil.example' }));
    expect(refusal).toMatchObject({
      status: 422,
      body: { error_code: 'ERR-VALIDATION-FAILED', details: [{ loc: ['header', 'Origin'], type: 'value_error' }] },
    });
    for (const origin of ['https://app.example', 'capacitor://localhost', strict.base.replace('ws:', 'http:')]) {
      await openStream(strict.base, await attempt({ Origin: origin }));
    }
    await openStream(strict.base, await attempt({}));
    expect(await strict.metric('push_streams_open')).toBe(4);
    await strict.close();
  });
});

test.each(['', '::', '[::]'])(
  'a gateway with BIND_ADDRESS "%s" listens on IPv4 and, where there is any, IPv6',
  async (address) => {
    const everywhere = await startReadyGateway(fixture, { BIND_ADDRESS: address });
    const hosts = Object.values(networkInterfaces()).flatMap((all = []) => all.map((each) => each.address));
    for (const host of ['127.0.0.1', ...(hosts.includes('::1') ? ['[::1]'] : [])]) {
      const device = newDevice();
      const base = everywhere.base.replace('127.0.0.1', host);
      (await openStream(base, { ...device, token: await tokenOf(device) })).terminate();
    }
    await everywhere.close();
  },
);

describe('a request that is no handshake', () => {
  const ask = async (path: string, init: Pick<SentRequest, 'method' | 'body'> = {}) => {
    const answer = await send(gateway.base.replace('ws:', 'http:'), { method: 'GET', path, ...init });
    return { ...answer, code: answer.text && JSON.parse(answer.text).error_code };
  };

  test('a request that is no handshake gets 404 on any path', async () => {
    for (const path of ['/', '/ws/push-stream/', '/ws/push-stream/x/y', '/ws/push-stream/x', '/metrics']) {
      expect([path, await ask(path)]).toMatchObject([path, { status: 404, code: 'ERR-ROUTE-NOT-FOUND' }]);
    }
    expect(await ask('/nothing', { method: 'HEAD' })).toMatchObject({ status: 404, code: '' });
  });

  test('a request by another method on the path of a stream gets 405', async () => {
    const { status, code, headers } = await ask('/ws/push-stream/x', { method: 'POST', body: 'x' });
    expect([status, code, headers.allow]).toEqual([405, 'ERR-METHOD-NOT-ALLOWED', 'GET']);
  });

  test('a request for an older version of the protocol gets 404 and the present version', async () => {
    const refusal = await refusalOf(gateway.base, { ...newDevice(), protocolVersion: 8 });
    expect(refusal).toMatchObject({ status: 404, headers: { 'sec-websocket-version': '13' } });
  });
});

describe('a client that goes away', () => {
  /** Connects, sends the handshake whole or in part, and disconnects after `turns` turns of the event loop. */
  async function abandon(base: string, text: string, turns: number): Promise<void> {
    const socket = openSocket(base);
    await once(socket, 'connect');
    const gone = once(socket, 'close');
    socket.write(text);
    for (let turn = 0; turn < turns; turn += 1) await setImmediate();
    socket.resetAndDestroy();
    await gone;
  }

  test('a client that goes away during its handshake, at whatever moment, harms nobody', async () => {
    const device = newDevice();
    const text = handshakeText({ ...device, token: await tokenOf(device) });
    const random = (limit: number) => Math.floor(Math.random() * limit);
    for (let round = 0; round < 50; round += 1) {
      const cut = () => (random(10) === 0 ? text.slice(0, random(text.length)) : text);
      await Promise.all(Array.from({ length: 10 }, () => abandon(gateway.base, cut(), random(20))));
    }
    await eventually('the end of every stream', async () => (await gateway.metric('push_streams_open')) === 0);
    expect(await gateway.metric('push_upgrades_aborted_total')).toBeGreaterThan(0);
    const client = await gateway.open(device);
    expect(client.isOpen()).toBe(true);
    client.socket.terminate();
  });

  test('a client that goes away does not take one of its group’s slots', async () => {
    const narrow = await startReadyGateway(fixture, { MAX_STREAMS_PER_GROUP: '1' });
    const device = newDevice();
    const text = handshakeText({ ...device, token: await tokenOf(device) });
    for (let turns = 0; turns < 20; turns += 1) {
      await abandon(narrow.base, text, turns);
    }
    const member = newDevice({ groupId: device.groupId });
    // The gateway may still be busy with the last handshake. Then the slot is rightly taken, although no stream is
    // open.
    await eventually('a slot for another member', () => opens(narrow, member));
    await narrow.close();
  });
});
