import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '@auth-account/local-stack';
import { encodeCommand, parseCommand } from '@auth-account/messaging/commands';
import { createSubscription, openRedis, publish, redisKeys, subscriberOptions } from '@auth-account/redis';
import { type Device, newDevice, openGatewayScene, signToken } from '../../support/gateway-scene.ts';
import { startHoldingProxy } from '../../support/holding-proxy.ts';
import { get } from '../../support/http-client.ts';
import { openGreeted } from '../../support/push-client.ts';
import { startGatewayProcess } from '../../support/service-process.ts';
import { startTestServers } from '../../support/start-test-servers.ts';

/**
 * `npm run bench hints`: measures the figures of ADR 0005.
 *
 * 1. For a gateway whose connections to Redis are cut for half a second during logouts, the number of close commands
 *    that it never receives, and the time from the reconnect until reconciliation has closed their streams.
 * 2. A gateway's cost of receiving every command of the deployment.
 */
const logoutsPerSecond = 1_000;
const cutMs = 500;
const commandsPerSecond = 2_000;
const measureMs = 10_000;
const tickMs = 10;
const keys = redisKeys('bench');

if (process.argv[2] === 'subscriber') await listen(process.argv[3] ?? '');
else await measure();

/** Work of the other process. Subscribes to the commands, looks up each command's session, and reports the cost. */
async function listen(url: string): Promise<void> {
  const own = new Set<string>(Array.from({ length: 10 }, () => randomUUID()));
  const redis = openRedis({ REDIS_URL: url }, subscriberOptions());
  let commands = 0;
  let begun = process.cpuUsage();
  createSubscription({
    redis,
    channels: [keys.commands],
    onMessage(_channel, message) {
      commands += 1;
      const command = parseCommand(message);
      if (command?.type === 'close' && own.has(command.session_id)) throw new Error('there is no such session');
    },
    onSubscribed: () => process.send?.('subscribed'),
    onError: (error) => console.error(error),
  });
  process.on('message', (message) => {
    if (message === 'begin') [begun, commands] = [process.cpuUsage(), 0];
    const { user, system } = process.cpuUsage(begun);
    if (message === 'end') process.send?.({ commands, cpuMs: (user + system) / 1_000 }, () => process.exit());
  });
}

async function measure(): Promise<void> {
  const servers = await startTestServers();
  try {
    for (const cut of [0, cutMs]) await measureLoss(servers.redis.port, cut);
    await measureChannel(servers.redis.url);
  } finally {
    await servers.stop();
  }
}

async function measureLoss(redisPort: number, cut: number): Promise<void> {
  const proxy = await startHoldingProxy(redisPort);
  const scene = await openGatewayScene();
  const env = { ...scene.env, REDIS_URL: proxy.url, LOG_LEVEL: 'info', PUSH_OPS_PORT: String(await findFreePort()) };
  const gateway = await startGatewayProcess(env);
  await delay(1_000);
  const devices = Array.from({ length: logoutsPerSecond * 2 }, () => newDevice());
  const closedAt = new Map<string, number>();
  for (let start = 0; start < devices.length; start += 50) {
    await Promise.all(devices.slice(start, start + 50).map((device) => open(device)));
  }

  async function open(device: Device): Promise<void> {
    const token = await signToken(scene.env, device);
    const stream = await openGreeted(`${gateway.base}/ws/push-stream/${device.sessionId}`, { token: token });
    stream.closed.then(({ at }) => closedAt.set(device.sessionId, at), console.error);
  }

  const decidedAt = new Map<string, number>();
  const denial = { kind: 'revoked', reason: 'LOGOUT_CONFIRMED' } as const;
  const began = performance.now();
  let backAt = began;
  if (cut > 0) {
    setTimeout(() => proxy.cut(), 500);
    setTimeout(() => {
      proxy.mend();
      backAt = performance.now();
    }, 500 + cut);
  }
  await paced(devices.length, logoutsPerSecond, async (index) => {
    const device = devices[index] as Device;
    decidedAt.set(device.sessionId, performance.now());
    await scene.denyAndClose(device, denial);
  });
  while (closedAt.size < devices.length) await delay(10);
  const waits = devices.map(({ sessionId }) => (closedAt.get(sessionId) ?? NaN) - (decidedAt.get(sessionId) ?? NaN));
  const { text } = await get(gateway.opsBase, '/metrics');
  const lost = /^push_reconcile_closed_total (\d+)/m.exec(text)?.[1];
  console.log(`${devices.length} logouts at ${logoutsPerSecond}/s, cut for ${cut} ms: ${lost} commands lost`);
  console.log(`  decision → close frame at the client: ${summary(waits)}`);
  if (cut > 0) {
    const heard = devices.filter(({ sessionId }) => (decidedAt.get(sessionId) ?? 0) < backAt);
    const last = Math.max(...heard.map(({ sessionId }) => (closedAt.get(sessionId) ?? NaN) - backAt));
    console.log(`  the last that was decided before the cut ended closed ${last.toFixed(0)} ms after it`);
  }
  gateway.signal('SIGTERM');
  await gateway.exited;
  await scene.close();
  await proxy.close();
}

async function measureChannel(url: string): Promise<void> {
  const redis = openRedis({ REDIS_URL: url }, {});
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), 'subscriber', url], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  await once(child, 'message');
  await paced(commandsPerSecond, commandsPerSecond, publishOne);
  child.send('begin');
  const before = await redisCpuMs();
  const total = (commandsPerSecond * measureMs) / 1_000;
  await paced(total, commandsPerSecond, publishOne);
  const { commands, cpuMs } = await endOf(child);
  const perSecond = (ms: number) => (ms / (measureMs / 1_000)).toFixed(1);
  console.log(`heard ${commands} of ${total} commands, CPU ${perSecond(cpuMs)} ms/s of the gateway`);
  console.log(`  Redis ${perSecond((await redisCpuMs()) - before)} ms/s, publishing included`);
  redis.disconnect();

  async function publishOne(): Promise<void> {
    const message = encodeCommand({
      ...{ type: 'close', session_id: randomUUID(), reason: 'LOGOUT_CONFIRMED' },
      ...{ request_id: randomUUID(), decided_at: Date.now() },
    } as Parameters<typeof encodeCommand>[0]);
    await publish(redis, keys.commands, message);
  }

  async function redisCpuMs(): Promise<number> {
    const info = await redis.info('cpu');
    const seconds = (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1]);
    return (seconds('used_cpu_user') + seconds('used_cpu_sys')) * 1_000;
  }
}

async function endOf(child: ChildProcess): Promise<{ commands: number; cpuMs: number }> {
  child.send('end');
  const [result] = await once(child, 'message');
  await once(child, 'exit');
  return result as { commands: number; cpuMs: number };
}

/** Starts `count` tasks at an even rate, and waits for all. */
async function paced(count: number, perSecond: number, work: (index: number) => Promise<void>): Promise<void> {
  const began = performance.now();
  const begun: Promise<void>[] = [];
  while (begun.length < count) {
    const due = Math.min(count, Math.ceil(((performance.now() - began) * perSecond) / 1_000));
    while (begun.length < due) begun.push(work(begun.length));
    await delay(tickMs);
  }
  await Promise.all(begun);
}

function summary(milliseconds: number[]): string {
  const sorted = milliseconds.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)]?.toFixed(1);
  return `p50 ${at(0.5)}, p90 ${at(0.9)}, p99 ${at(0.99)}, longest ${at(1)} ms`;
}
