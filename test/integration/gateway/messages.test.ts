import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import {
  createPushMessagePublisher,
  openForceLogoutQueue,
  type PushMessagePublisher,
  requestForceLogout,
} from '@auth-account/messaging';
import { createOwnMessagePublisher } from '@auth-account/messaging/push-messages';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import {
  type GatewayFixture,
  newDevice,
  openGatewayFixture,
  signToken,
  startTestGateway,
  type TestGateway,
} from '../../support/gateway/gateway-fixture.ts';
import { openRawStream, type RawFrame } from '../../support/gateway/raw-connection.ts';
import { type HoldingProxy, startHoldingProxy } from '../../support/stores/holding-proxy.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { readDocumentedAcl } from '../../support/verifier/documented-acl.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

let fixture: GatewayFixture;
let proxy: HoldingProxy;
let gateway: TestGateway;
let push: PushMessagePublisher;

const isListening = async () => (await fixture.redis.pubsub('NUMSUB', fixture.keys.messages))[1] === 1;

beforeAll(async () => {
  fixture = await openGatewayFixture();
  proxy = await startHoldingProxy(Number(new URL(testEnvironment().redisUrl).port));
  gateway = await startTestGateway(fixture, { REDIS_URL: proxy.url });
  push = createPushMessagePublisher(fixture.redis, fixture.keys);
  await eventually('readiness', async () => (await gateway.unreadiness()).length === 0);
  await eventually('the subscription', isListening);
});

afterAll(async () => {
  await gateway.close();
  await fixture.close();
  await proxy.close();
});

const counted = (result: string) => gateway.metric('push_messages_total', { result });

/** Opens a stream and records, in order, the texts of its data frames and the codes of its close frames. */
async function openRecorded(device: ReturnType<typeof newDevice>) {
  const heard: (string | number)[] = [];
  const stream = openRawStream(gateway.base, { ...device, token: await signToken(fixture.env, device) }, (frame) => {
    heard.push(read(frame));
  });
  expect(await stream.status).toBe(101);
  await eventually('hello', () => heard.length === 1);
  heard.pop();
  return { ...stream, heard };
}

function read({ opcode, payload }: RawFrame): string | number {
  return opcode === 8 ? payload.readUInt16BE() : payload.toString();
}

describe('a message', () => {
  // guarantees: message-at-most-once
  test('a message to a group reaches each of its streams, and no other', async () => {
    const device = newDevice();
    const member = newDevice({ groupId: device.groupId });
    const otherDevice = newDevice({ userId: device.userId });
    const [first, second, other] = [
      await gateway.open(device),
      await gateway.open(member),
      await gateway.open(otherDevice),
    ];
    const at = new Date('2026-03-01T10:00:00.000Z');
    const content = { topic: 'inventory.item.changed', payload: { name: 'Молоко 🥛', left: [0.5] }, id: 'evt-1', at };
    await push.toGroup(device.groupId, content);
    const frame = {
      type: 'message',
      id: 'evt-1',
      topic: 'inventory.item.changed',
      payload: { name: 'Молоко 🥛', left: [0.5] },
      timestamp: '2026-03-01T10:00:00.000Z',
    };
    expect(await first.next()).toEqual(frame);
    expect(await second.next()).toEqual(frame);
    await push.toGroup(otherDevice.groupId, { topic: 'x', payload: null });
    expect(await other.next()).toMatchObject({ topic: 'x', payload: null });
  });

  // guarantees: message-at-most-once
  test('a message to a session reaches that device only, in the order of publishing', async () => {
    const device = newDevice();
    const member = newDevice({ groupId: device.groupId });
    const [mine, others] = [await gateway.open(device), await gateway.open(member)];
    for (let index = 0; index < 50; index += 1) {
      await push.toSession(device.sessionId, { topic: 'to.one', payload: index });
      await push.toGroup(device.groupId, { topic: 'to.all', payload: index });
    }
    const got = async (client: typeof mine, count: number) => {
      const frames: unknown[] = [];
      for (let index = 0; index < count; index += 1) frames.push((await client.next()).payload);
      return frames;
    };
    const order = Array.from({ length: 50 }, (_, index) => index);
    expect(await got(mine, 100)).toEqual(order.flatMap((index) => [index, index]));
    expect(await got(others, 50)).toEqual(order);
  });

  test('a message for nobody here is ignored', async () => {
    const before = await counted('ignored');
    await push.toGroup(randomUUID(), { topic: 'x', payload: 1 });
    await push.toSession(randomUUID(), { topic: 'x', payload: 1 });
    await eventually('both', async () => (await counted('ignored')) === before + 2);
  });

  test('a message of a wrong form, or too long, is dropped and counted, and the next one comes', async () => {
    const device = newDevice();
    const client = await gateway.open(device);
    const to = { home_group_id: device.groupId };
    const rest = { id: '1', topic: 'x', payload: 1, timestamp: new Date().toISOString() };
    const { payload: _, ...bare } = rest;
    const raw = (payload: string) => JSON.stringify({ ...to, ...rest }).replace('"payload":1', `"payload":${payload}`);
    const malformed = [
      ...['', 'nonsense', '[]', 'null', '"x"', '{'],
      ...[rest, { ...to, ...bare }, { ...to, session_id: device.sessionId, ...rest }, { home_group_id: '1', ...rest }],
      ...[
        { ...to, ...rest, id: '' },
        { ...to, ...rest, id: 'x'.repeat(65) },
        { ...to, ...rest, topic: 'Ä' },
      ],
      ...[
        { ...to, ...rest, timestamp: 'now' },
        { ...to, ...rest, id: 7 },
        { ...to, ...rest, topic: null },
      ],
      `${raw('['.repeat(7_900) + ']'.repeat(7_900))}`,
    ];
    const tooBig = [raw(JSON.stringify('x'.repeat(17_000))), raw(`[${Array(3_000).fill('1e20').join()}]`)];
    for (const message of [...malformed, ...tooBig]) {
      await fixture.redis.publish(
        fixture.keys.messages,
        typeof message === 'string' ? message : JSON.stringify(message),
      );
    }
    await push.toGroup(device.groupId, { topic: 'after', payload: true });
    expect(await client.next()).toMatchObject({ topic: 'after' });
    expect([await counted('malformed'), await counted('too_big')]).toEqual([malformed.length, tooBig.length]);
  });

  test('a message that is malformed or has more than 16 KiB is refused by the publisher', async () => {
    const groupId = randomUUID();
    const sized = (length: number) => push.toGroup(groupId, { topic: 'x', payload: 'x'.repeat(length) });
    await expect(sized(17_000)).rejects.toThrow(/^the message has 17\d+ bytes of JSON, and 16384 are the most$/);
    await expect(sized(17_000)).rejects.toBeInstanceOf(RangeError);
    await expect(sized(16_000)).resolves.toBeUndefined();
    const malformed = [
      push.toGroup('kitchen', { topic: 'x', payload: 1 }),
      push.toSession(groupId, { topic: 'Big News', payload: 1 }),
      push.toSession(groupId, { topic: 'x', payload: undefined }),
      push.toSession(groupId, { topic: 'x', payload: 1, id: 'é' }),
    ];
    for (const sent of malformed) await expect(sent).rejects.toThrow('the message is malformed: ');
  });

  // guarantees: nothing-after-close
  test('a message comes no more once the stream was closed, and the close frame is the last', async () => {
    const device = newDevice();
    const member = newDevice({ groupId: device.groupId });
    const [leaver, stayer] = [await openRecorded(device), await gateway.open(member)];
    for (let index = 0; index < 200; index += 1) {
      if (index === 100) await fixture.publishClose(device, 'LOGOUT_CONFIRMED');
      void push.toGroup(device.groupId, { topic: 'x', payload: index });
    }
    await leaver.ended;
    expect(leaver.heard.indexOf(1000)).toBe(leaver.heard.length - 1);
    for (let index = 0; index < 200; index += 1) expect(await stayer.next()).toMatchObject({ payload: index });
  });

  // guarantees: nothing-after-close
  test('a message to a client that does not read ends its stream with 4008, and the others get them all', async () => {
    const device = newDevice();
    const member = newDevice({ groupId: device.groupId });
    const [slow, reader] = [await openRecorded(device), await gateway.open(member)];
    slow.socket.pause();
    let sent = 0;
    await eventually('the end of the slow one', async () => {
      for (let index = 0; index < 20; index += 1) {
        await push.toGroup(device.groupId, { topic: 'x', payload: 'x'.repeat(16_000) });
      }
      sent += 20;
      return (await gateway.metric('push_streams_closed_total', { reason: 'SLOW_CONSUMER' })) === 1;
    });
    for (let index = 0; index < sent; index += 1) expect((await reader.next()).type).toBe('message');
    slow.socket.resume();
    await slow.ended;
    expect(slow.heard.at(-1)).toBe(4008);
  });

  test('a message to a group of 300, which takes several turns, comes to each once, before any later message', async () => {
    const groupId = randomUUID();
    const heard: string[][] = [];
    const sockets: Socket[] = [];
    for (let start = 0; start < 300; start += 50) {
      const opening = Array.from({ length: 50 }, async () => {
        const frames: string[] = [];
        heard.push(frames);
        const device = newDevice({ groupId });
        const token = await signToken(fixture.env, device);
        const stream = openRawStream(gateway.base, { ...device, token }, ({ payload }) =>
          frames.push(payload.toString()),
        );
        sockets.push(stream.socket);
        expect(await stream.status).toBe(101);
      });
      await Promise.all(opening);
    }
    const before = await gateway.metric('push_message_frames_total', { result: 'sent' });
    for (const payload of ['a', 'b', 'c']) await push.toGroup(groupId, { topic: 'x', payload });
    await eventually('all of them', () => heard.every((frames) => frames.length === 4));
    const payloads = heard.map(([, ...frames]) => frames.map((frame) => JSON.parse(frame).payload).join(''));
    expect(new Set(payloads)).toEqual(new Set(['abc']));
    expect(await gateway.metric('push_message_frames_total', { result: 'sent' })).toBe(before + 900);

    // Far more messages at once than can be sent, so some are dropped.
    const flood = fixture.redis.pipeline();
    const message = { home_group_id: groupId, id: '1', topic: 'x', payload: 1, timestamp: new Date().toISOString() };
    for (let count = 0; count < 1_200; count += 1) flood.publish(fixture.keys.messages, JSON.stringify(message));
    await flood.exec();
    await eventually('the drops', async () => (await counted('overload')) > 0);
    for (const socket of sockets) socket.destroy();
  });
});

describe('messages while Redis is away', () => {
  // guarantees: messages-are-lost
  test('messages while Redis is away are lost, and later ones come in again', async () => {
    const device = newDevice();
    const client = await gateway.open(device);
    proxy.cut();
    await eventually('the loss', async () => !(await isListening()));
    await push.toSession(device.sessionId, { topic: 'lost', payload: 1 });
    proxy.fix();
    await eventually('the subscription', isListening);
    await push.toSession(device.sessionId, { topic: 'found', payload: 2 });
    expect(await client.next()).toMatchObject({ topic: 'found' });
  });
});

describe('an internal service’s Redis user with the rights of the documentation', () => {
  let internalService: Redis;

  beforeAll(async () => {
    const { redis, keys } = fixture;
    const documented = readDocumentedAcl('push.md').rightsFor('secret');
    expect(documented).toContain('&{auth}:messages');
    const rights = documented.map((right) => right.replace('{auth}:messages', keys.messages));
    await redis.call('ACL', 'SETUSER', fixture.env.KEY_PREFIX as string, ...rights);
    const url = new URL(testEnvironment().redisUrl);
    internalService = new Redis({
      host: url.hostname,
      port: Number(url.port),
      username: fixture.env.KEY_PREFIX as string,
      password: 'secret',
    });
  });

  afterAll(async () => {
    internalService.disconnect();
    await fixture.redis.call('ACL', 'DELUSER', fixture.env.KEY_PREFIX as string);
  });

  test('an internal service’s Redis user with the documented rights publishes messages', async () => {
    const device = newDevice();
    const client = await gateway.open(device);
    await createPushMessagePublisher(internalService, fixture.keys).toSession(device.sessionId, {
      topic: 'x',
      payload: 1,
    });
    expect(await client.next()).toMatchObject({ type: 'message', topic: 'x' });
  });

  test('an internal service’s Redis user cannot forge messages of this service: they are dropped on its channel, refused on others', async () => {
    const device = newDevice();
    const client = await gateway.open(device);
    const content = { id: '1', topic: 'security.new_device', payload: 1, timestamp: new Date().toISOString() };
    const forged = [{ session_id: device.sessionId }, { home_group_id: device.groupId }].map((to) =>
      JSON.stringify({ ...to, ...content }),
    );
    for (const text of forged) await internalService.publish(fixture.keys.messages, text);
    await expect(internalService.publish(fixture.keys.ownMessages, forged[0] ?? '')).rejects.toThrow('NOPERM');
    const { toSession } = createPushMessagePublisher(internalService, fixture.keys);
    await expect(toSession(device.sessionId, content)).rejects.toThrow('reserved');
    await createOwnMessagePublisher(fixture.redis, fixture.keys).toSession(device.sessionId, {
      ...content,
      id: 'ours',
    });
    expect(await client.next()).toMatchObject({ topic: content.topic, id: 'ours' });
    expect(await counted('reserved')).toBe(2);
  });

  // guarantees: publisher-rights
  test('an internal service’s Redis user with the documented rights can do nothing else: no command, no deny list, no listening', async () => {
    const { keys } = fixture;
    const { sessionId } = newDevice();
    const attempts = [
      internalService.publish(keys.commands, '{}'),
      internalService.subscribe(keys.messages),
      internalService.get(keys.denied(sessionId)),
      internalService.mget(keys.denyListComplete, keys.denied(sessionId)),
      internalService.set(keys.denied(sessionId), 'none:SESSION_REVOKED'),
      internalService.zcard(keys.revocations),
      internalService.xrange(keys.closeRecords, '-', '+'),
      internalService.keys('*'),
      internalService.eval('return 1', '0'),
      requestForceLogout(openForceLogoutQueue(internalService, keys), { session_id: sessionId, reason: 'none' }),
      internalService.flushall(),
      internalService.config('GET', '*'),
    ];
    // All attempts are awaited together, because an early refusal that nobody awaits yet would count as unhandled.
    const outcomes = await Promise.allSettled(attempts);
    expect(outcomes.map((each) => each.status === 'rejected' && String(each.reason))).toEqual(
      attempts.map(() => expect.stringContaining('NOPERM')),
    );
  });
});
