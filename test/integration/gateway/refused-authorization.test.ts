import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  type Device,
  type GatewayFixture,
  newDevice,
  openGatewayFixture,
  signToken,
  startReadyGateway,
  startTestGateway,
  type TestGateway,
} from '../../support/gateway/gateway-fixture.ts';
import { type HandshakeOptions, openStream, refusalOf } from '../../support/gateway/push-client.ts';
import { countEvents, type Line, type RecordedLog, recordLog } from '../../support/recorded-log.ts';

const env = { TRUST_PROXY_HOPS: '1', MAX_STREAMS_PER_GROUP: '1' };
const route = '/ws/push-stream/:id';

let fixture: GatewayFixture;
let log: RecordedLog;
let gateway: TestGateway;
beforeAll(async () => {
  fixture = await openGatewayFixture();
  log = recordLog('push-gateway');
  gateway = await startReadyGateway(fixture, env, {}, log.logger);
});
afterAll(async () => {
  await gateway.close();
  await fixture.close();
});

/** Each test's refusals come from a separate network, so that none is left out of the audit log. */
let network = 0;
beforeEach(() => {
  network += 1;
});
afterEach(() => void log.lines.splice(0));

/** Headers of a client behind a proxy. The client invents the first IP address, the proxy writes the last. */
const headers = () => ({ 'X-Forwarded-For': `192.0.2.1, 203.0.${network}.77`, 'X-Request-ID': 'phone-1' });
const refuse = (handshake: HandshakeOptions) => refusalOf(gateway.base, { ...handshake, headers: headers() });
const refused = (reason: string, ids: object = {}): Line => ({
  event: 'authorization.failed',
  outcome: 'failure',
  reason,
  route,
  request_id: 'phone-1',
  address: `203.0.${network}.0/24`,
  ...ids,
});
const idsOf = ({ userId, sessionId }: Device) => ({ user_id: userId, session_id: sessionId });
const counted = (code: string) => gateway.metric('auth_authorization_failures_total', { code });

test('a handshake without a token of this service is an event that names nobody', async () => {
  const before = await counted('IAD_JWT_ACCESS_INVALID');
  for (const token of [undefined, 'hunter2', 'a.b.c']) {
    expect((await refuse({ ...newDevice(), token })).status).toBe(401);
    expect(log.takeEvents()).toEqual([refused('IAD_JWT_ACCESS_INVALID')]);
  }
  expect(await counted('IAD_JWT_ACCESS_INVALID')).toBe(before + 3);
});

test('a handshake with an expired token is an event that names user and session', async () => {
  const device = newDevice();
  const token = await signToken(fixture.env, device, { ttlSeconds: 60, now: () => Date.now() - 120_000 });
  const before = await counted('IAD_JWT_ACCESS_EXPIRED');
  expect((await refuse({ ...device, token })).status).toBe(401);
  expect(log.takeEvents()).toEqual([refused('IAD_JWT_ACCESS_EXPIRED', idsOf(device))]);
  expect(await counted('IAD_JWT_ACCESS_EXPIRED')).toBe(before + 1);
});

test('a handshake of a revoked session is an event that names user and session', async () => {
  const device = newDevice();
  await fixture.denyAndClose(device, { kind: 'revoked', reason: 'SESSION_REVOKED' });
  expect((await refuse({ ...device, token: await signToken(fixture.env, device) })).status).toBe(401);
  expect(log.takeEvents()).toEqual([refused('IAD_JWT_ACCESS_INVALID', idsOf(device))]);
});

// guarantees: refusals-audited
test('a handshake for the stream of another session is an event that names whose token it was', async () => {
  const device = newDevice();
  const before = await counted('ERR-STREAM-SESSION-MISMATCH');
  expect((await refuse({ ...newDevice(), token: await signToken(fixture.env, device) })).status).toBe(403);
  expect(log.takeEvents()).toEqual([refused('ERR-STREAM-SESSION-MISMATCH', idsOf(device))]);
  expect(await counted('ERR-STREAM-SESSION-MISMATCH')).toBe(before + 1);
});

test('a handshake that is refused for another reason is no event', async () => {
  const first = newDevice();
  const client = await gateway.open(first);
  const second = newDevice({ groupId: first.groupId });
  expect((await refuse({ ...second, token: await signToken(fixture.env, second) })).status).toBe(429);
  expect((await refuse({ ...newDevice(), protocolVersion: 8 })).status).toBe(404);
  expect(log.takeEvents()).toEqual([]);
  client.socket.close();
  await client.closed;
});

test('a token that an open stream refuses is an event that names the stream', async () => {
  const device = newDevice();
  const client = await openStream(gateway.base, { ...device, token: await signToken(fixture.env, device) });
  await client.next();
  const before = await counted('ERR-STREAM-SESSION-MISMATCH');
  for (const token of ['a.b.c', await signToken(fixture.env, newDevice())]) {
    client.send({ type: 'auth', access_token: token });
    expect(await client.next()).toMatchObject({ type: 'error' });
  }
  const event = { event: 'authorization.failed', outcome: 'failure', route, session_id: device.sessionId };
  expect(log.takeEvents()).toEqual([
    { ...event, reason: 'IAD_JWT_ACCESS_INVALID' },
    { ...event, reason: 'ERR-STREAM-SESSION-MISMATCH' },
  ]);
  expect(await counted('ERR-STREAM-SESSION-MISMATCH')).toBe(before + 1);
  client.socket.close();
  await client.closed;
});

// guarantees: refusal-flood-sampled
test('a flood of bad handshakes writes a bounded number of lines, which stand for all of them', async () => {
  const own = recordLog('push-gateway');
  const flooded = await startTestGateway(fixture, env, {}, own.logger);
  const handshakes = 200;
  let left = handshakes;
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      await refusalOf(flooded.base, { ...newDevice(), token: 'hunter2', headers: headers() });
    }
  };
  try {
    await Promise.all(Array.from({ length: 20 }, lane));
  } finally {
    await flooded.close();
  }
  const lines = own.takeEvents();
  expect(await flooded.metric('auth_authorization_failures_total', { code: 'IAD_JWT_ACCESS_INVALID' })).toBe(
    handshakes,
  );
  expect(countEvents(lines)).toBe(handshakes);
  // Each window ends with a line about the events that were left out. The last window may be short and have no such
  // line.
  const windows = 1 + lines.filter(({ suppressed }) => suppressed !== undefined).length;
  expect(lines.length).toBeLessThanOrEqual(11 * windows);
  expect(JSON.stringify(own.lines)).not.toContain('hunter2');
});
