import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { type NewDevicePayload, newDeviceTopic } from '@auth-account/contracts';
import { createPushMessagePublisher, type PushMessagePublisher } from '@auth-account/messaging';
import { createOwnMessagePublisher } from '@auth-account/messaging/push-messages';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { asyncApiChecker } from '../../support/api/asyncapi-checker.ts';
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
import { openStream, type PushClient } from '../../support/gateway/push-client.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

const document = JSON.parse(await readFile(new URL('../../../docs/asyncapi.json', import.meta.url), 'utf8'));
const checker = asyncApiChecker(document);

let fixture: GatewayFixture;
let gateway: TestGateway;
let push: PushMessagePublisher;

beforeAll(async () => {
  fixture = await openGatewayFixture();
  gateway = await startTestGateway(fixture);
  push = createPushMessagePublisher(fixture.redis, fixture.keys);
  const isListening = async () => (await fixture.redis.pubsub('NUMSUB', fixture.keys.messages))[1] === 1;
  await eventually('readiness', async () => (await gateway.unreadiness()).length === 0);
  await eventually('the subscription', isListening);
});
afterAll(async () => {
  await gateway.close();
  await fixture.close();
});

/** Returns the document's name for a frame. Throws if it has none, or if a member is not described. */
function nameOf(frame: object): string {
  const [name, ...others] = checker.namesOf('pushStream', frame);
  if (name === undefined || others.length > 0) throw new Error(`${JSON.stringify(frame)} is ${[name, ...others]}`);
  const unknown = checker.unknownMembers(name, frame);
  if (unknown.length > 0) throw new Error(`${name} has members that are not described: ${unknown}`);
  return name;
}

/** Sends a frame, which the document must describe, and returns the name of its answer. */
async function ask(client: PushClient, frame: object): Promise<string> {
  nameOf(frame);
  client.send(frame);
  return nameOf(await client.next());
}

/**
 * Publishes until a frame of this name comes, because a message is a hint and may be lost with a connection to Redis.
 */
async function hear(client: PushClient, name: string, publish: () => Promise<unknown>): Promise<void> {
  let frame = client.next();
  await eventually(`a frame ${name}`, async () => {
    await publish();
    const came = await Promise.race([frame, setTimeout(500, undefined)]);
    if (came === undefined) return false;
    frame = client.next();
    return nameOf(came) === name;
  });
}

const authFrame = async (device: Device, options?: Parameters<typeof signToken>[2]) => ({
  type: 'auth',
  access_token: await signToken(fixture.env, device, options),
});

// guarantees: asyncapi-matches
test('every frame that the gateway sends is one that the AsyncAPI document has', async () => {
  const device = newDevice();
  const client = await openStream(gateway.base, { ...device, token: await signToken(fixture.env, device) });
  expect(nameOf(await client.next())).toBe('hello');
  expect(await ask(client, { type: 'ping' })).toBe('pong');
  expect(await ask(client, await authFrame(device))).toBe('authOk');
  expect(await ask(client, await authFrame(newDevice()))).toBe('error');

  const message = { topic: 'inventory.item.changed', payload: { item_id: randomUUID() } };
  await hear(client, 'message', () => push.toGroup(device.groupId, message));
  const created_at = new Date().toISOString();
  const payload: NewDevicePayload = { session_id: randomUUID(), device_name: null, platform: 'ios', created_at };
  await hear(client, 'newDevice', () =>
    createOwnMessagePublisher(fixture.redis, fixture.keys).toSession(device.sessionId, {
      topic: newDeviceTopic,
      payload,
    }),
  );

  const stopping = await startReadyGateway(fixture, { DRAIN_SECONDS: '0' });
  const last = await stopping.open(newDevice());
  const stopped = stopping.close();
  expect(nameOf(await last.next())).toBe('reconnect');
  await stopped;
});

test('every error code of a refused auth frame is one that the document has', async () => {
  const device = newDevice();
  const client = await gateway.open(device);
  const refuse = async (frame: object) => {
    client.send(frame);
    return (await client.next()).error_code;
  };
  const anHourAgo = () => Date.now() - 3_600_000;
  const codes = [
    await refuse({ type: 'auth', access_token: 'no-token' }),
    await refuse(await authFrame(device, { now: anHourAgo })),
    await refuse(await authFrame(newDevice())),
  ];
  expect(codes).toEqual(['IAD_JWT_ACCESS_INVALID', 'IAD_JWT_ACCESS_EXPIRED', 'ERR-STREAM-SESSION-MISMATCH']);
  expect(Object.keys(document.components.messages.error['x-errors'])).toEqual(expect.arrayContaining(codes));
});
