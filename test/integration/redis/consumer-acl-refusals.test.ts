import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { forceLogoutQueue, registeredTopic } from '@auth-account/contracts';
import {
  addEvent,
  createPushMessagePublisher,
  findForceLogout,
  listForceLogouts,
  openEventQueue,
  openForceLogoutQueue,
  requestForceLogout,
  subscriberQueueName,
} from '@auth-account/messaging';
import { createCommandPublisher, createStreamNumbers } from '@auth-account/messaging/commands';
import { createDenyList, denialLifetimeMs } from '@auth-account/messaging/deny-list';
import { failFastOptions, openRedis } from '@auth-account/redis';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Redis } from 'ioredis';
import { readDocumentedAcl, startDocumentedRedis } from '../../support/verifier/documented-acl.ts';
import { keys, queueName, refusal } from '../../support/worker/consumer-acl-fixture.ts';
import { newEvent } from '../../support/worker/worker-events.ts';

let fixture: Awaited<ReturnType<typeof startDocumentedRedis>>;

beforeAll(async () => {
  fixture = await startDocumentedRedis('consumers.md');
});

afterAll(() => fixture.close());

describe('refusals of the Redis user of docs/consumers.md', () => {
  let internalService: Redis;
  const id = randomUUID();
  const forceLogouts = () => openForceLogoutQueue(internalService, keys);
  const denyList = () => createDenyList(internalService, keys, denialLifetimeMs(600));
  const messages = () => createPushMessagePublisher(internalService, keys);
  const queueKey = (name: string, part: string) => `${keys.queuePrefix}:${name}:${part}`;
  const othersQueue = subscriberQueueName(registeredTopic, 'pantry');
  const denial = { kind: 'revoked', reason: 'SESSION_REVOKED' } as const;
  const entry = { sessionId: id, denial, requestId: 'r', decidedAt: 1 };
  const close = { type: 'close', session_id: id, reason: 'SESSION_REVOKED', request_id: 'r', decided_at: 1 } as const;

  beforeAll(() => {
    internalService = openRedis(
      { REDIS_URL: fixture.url },
      { ...failFastOptions(), enableOfflineQueue: true },
    ) as Redis;
  });
  afterAll(() => internalService.disconnect());

  // guarantees: consumer-rights
  test.each<[what: string, attempt: () => Promise<unknown>]>([
    ['ordering a forced logout', () => requestForceLogout(forceLogouts(), { session_id: id, reason: 'none' })],
    ['looking at one', () => findForceLogout(forceLogouts(), id)],
    ['looking at all', () => listForceLogouts(forceLogouts(), 'waiting', 10)],
    ['its keys', () => internalService.lrange(queueKey(forceLogoutQueue, 'wait'), 0, -1)],
    [
      "adding to another subscriber's queue",
      () => addEvent(openEventQueue(othersQueue, internalService, keys), newEvent()),
    ],
    ["another subscriber's jobs", () => internalService.hgetall(queueKey(othersQueue, id))],
    ["another subscriber's lists", () => internalService.lrange(queueKey(othersQueue, 'wait'), 0, -1)],
    ['waiting for them', () => internalService.bzpopmin(queueKey(othersQueue, 'marker'), 0.01)],
    ['a queue whose name begins like its own', () => internalService.get(queueKey(`${queueName}-2`, 'id'))],
    ["the topic's own queue", () => addEvent(openEventQueue(registeredTopic, internalService, keys), newEvent())],
    [
      "moving a job of its own into another's queue",
      () => move(queueKey(queueName, 'wait'), queueKey(othersQueue, 'wait')),
    ],
    ['denying', () => denyList().denyAndClose([entry])],
    ['reading a denial', () => internalService.get(keys.denied(id))],
    ['lifting a denial', () => internalService.del(keys.denied(id))],
    ['the revocations', () => internalService.zcard(keys.revocations)],
    ['saying that the list is complete', () => internalService.set(keys.denyListComplete, '1')],
    ['taking that away', () => internalService.del(keys.denyListComplete)],
    ['reading a denial within a script', () => script("return redis.call('GET', KEYS[1])", keys.denied(id))],
    ['reading one that the script does not name', () => script(`return redis.call('GET', '${keys.denied(id)}')`)],
    ['numbering streams', () => createStreamNumbers(internalService, keys)()],
    ['the records of closes', () => internalService.xrange(keys.closeRecords, '-', '+')],
    ['reading a limit', () => internalService.get(`${keys.limit('login')}:x`)],
    ['resetting a limit', () => internalService.del(`${keys.limit('login')}:x`)],
    ['commands to the gateways', () => createCommandPublisher(internalService, keys)(close)],
    ['commands within a script', () => script(`return redis.call('PUBLISH', '${keys.commands}', '{}')`)],
    ['messages to apps', () => messages().toSession(id, { topic: 'x', payload: 1 })],
    ['listening', () => internalService.subscribe(keys.commands)],
    ['listening to a pattern', () => internalService.psubscribe('*')],
    ...(
      [
        ['KEYS', '*'],
        ['SCAN', '0'],
        ['RANDOMKEY'],
        ['DBSIZE'],
        ['FLUSHALL'],
        ['FLUSHDB'],
        ['SWAPDB', '0', '1'],
        ['CONFIG', 'GET', '*'],
        ['CONFIG', 'SET', 'maxmemory', '1mb'],
        ['ACL', 'WHOAMI'],
        ['ACL', 'LIST'],
        ['CLIENT', 'LIST'],
        ['CLIENT', 'KILL', 'TYPE', 'normal'],
        ['CLIENT', 'PAUSE', '1'],
        ['SCRIPT', 'FLUSH'],
        ['MONITOR'],
        ['SHUTDOWN', 'NOSAVE'],
        ['REPLICAOF', 'NO', 'ONE'],
        ['SAVE'],
        ['BGREWRITEAOF'],
        ['SLOWLOG', 'GET'],
        ['LATENCY', 'RESET'],
        ['MODULE', 'LIST'],
      ] as const
    ).map(([name, ...args]): [string, () => Promise<unknown>] => [
      [name, ...args].join(' '),
      () => internalService.call(name, ...args),
    ]),
    ['FLUSHALL within a script', () => script("return redis.call('FLUSHALL')")],
    ['KEYS within a script', () => script("return redis.call('KEYS', '*')")],
  ])('the Redis user of docs/consumers.md is refused: %s', async (_, attempt) => {
    await expect(attempt()).rejects.toThrow(refusal);
  });

  function script(text: string, ...names: string[]): Promise<unknown> {
    return internalService.eval(text, names.length, ...names);
  }

  function move(from: string, to: string): Promise<unknown> {
    return internalService.rpoplpush(from, to);
  }
});

describe('the commands of docs/consumers.md', () => {
  /** Scripts with which a worker takes, ends, delays, repeats and renews jobs, and looks for stalled jobs. */
  const scripts = [
    'moveToActive',
    'moveToFinished',
    'moveToDelayed',
    'retryJob',
    'extendLocks',
    'moveStalledJobsToWait',
  ] as const;
  /** Commands outside of scripts: those of ioredis and BullMQ when they connect, and the wait for a job. */
  const direct = ['info', 'client|setname', 'eval', 'evalsha', 'bzpopmin'];

  async function commandsOfScripts(): Promise<Set<string>> {
    const folder = join(dirname(createRequire(import.meta.url).resolve('bullmq')), 'scripts');
    const files = await readdir(folder);
    const texts = await Promise.all(
      scripts.map(async (name) => {
        const file = files.find((each) => new RegExp(`^${name}-\\d+\\.js$`).test(each));
        return readFile(join(folder, file ?? `${name}-?.js`), 'utf8');
      }),
    );
    const known = new Set(((await fixture.admin.call('COMMAND')) as [string][]).map(([name]) => name));
    // A command is in quotes, even if a variable holds it.
    const words = texts.flatMap((text) =>
      [...text.matchAll(/["']([A-Z]+)["']/g)].map(([, word = '']) => word.toLowerCase()),
    );
    return new Set(words.filter((word) => known.has(word)));
  }

  // guarantees: consumer-rights
  test('the commands of docs/consumers.md are those of BullMQ’s scripts, with connecting and waiting, and no others', async () => {
    const granted = readDocumentedAcl('consumers.md')
      .rightsFor('')
      .filter((right) => right.startsWith('+'));
    const needed = [...direct, ...(await commandsOfScripts())].map((command) => `+${command}`);
    expect(granted.toSorted()).toEqual(needed.toSorted());
  });
});
