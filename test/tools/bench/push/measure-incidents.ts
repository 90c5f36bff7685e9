import { setTimeout as delay } from 'node:timers/promises';
import { waitUntil } from '@auth-account/local-stack';
import { get } from '../../../support/http-client.ts';
import { countCpu } from '../machine/process-usage.ts';
import type { ServerProcess } from '../machine/start-server.ts';
import { monotonicNow, rounded } from '../report/figures.ts';
import { measureCloses, type StreamBed } from './stream-bed.ts';

/** Streams that were lost and that came back, for each failure. */
export type IncidentsResult = Awaited<ReturnType<typeof measureIncidents>>;

/** Time for which the gateway or Redis is away, in milliseconds. */
const awayMs = 5_000;
/** Time from Redis's return, without its data, to the deny list's, in milliseconds. */
const withoutListMs = 5_000;
/** Limit for the return of all streams, in milliseconds. */
const patienceMs = 900_000;

/**
 * Lets a gateway with `streams` open streams lose Redis and its deny list, end at once, and stop in order. Ended streams
 * come back as the client library lets them.
 */
export async function measureIncidents(bed: StreamBed, streams: number) {
  const lostRedis = await loseRedis(bed, streams);
  const { port } = bed.server;
  await bed.client.call('comeBackTo', port);
  await bed.server.end();
  await delay(awayMs);
  const restarted = await bed.startGateway({ PUSH_PORT: String(port) });
  const restart = await watchReturn(bed, restarted, streams);
  bed.server = restarted;

  const other = await bed.startGateway();
  await bed.client.call('comeBackTo', other.port);
  const begun = monotonicNow();
  const ended = restarted.end('SIGTERM').then(() => rounded((monotonicNow() - begun) / 1_000));
  const drain = { ...(await watchReturn(bed, other, streams)), endedAfterSeconds: await ended };
  bed.server = other;
  return { lostRedis, restart, drain };
}

/** Ends Redis, starts it without its data, and writes the deny list some time later. */
async function loseRedis(bed: StreamBed, streams: number) {
  const { redis, fixture, server, client } = bed;
  const lostBefore = await client.call('lost');
  const usedMs = countCpu([server.pid]);
  const begun = monotonicNow();
  await redis.kill();
  await delay(awayMs);
  await redis.start();
  await fixture.redis.flushall();
  await delay(withoutListMs);
  await fixture.completeDenyList();
  const isReady = async () => (await get(`http://127.0.0.1:${server.opsPort}/readyz`)).status === 200;
  await waitUntil(isReady, { what: 'the gateway to be ready', timeoutMs: patienceMs, intervalMs: 20 });
  const seconds = (monotonicNow() - begun - awayMs - withoutListMs) / 1_000;
  return {
    readySeconds: rounded(seconds),
    cpuMs: rounded(usedMs()),
    lost: (await client.call('lost')) - lostBefore,
    commandToClose: await measureCloses(bed, streams),
  };
}

/** Waits until all streams have come back to the gateway. */
async function watchReturn({ client }: StreamBed, gateway: ServerProcess, streams: number) {
  const begun = monotonicNow();
  const usedMs = countCpu([gateway.pid]);
  let returned = await client.call('returned');
  while (returned.count < streams && monotonicNow() - begun < patienceMs) {
    await delay(250);
    returned = await client.call('returned');
  }
  const times = (await client.call('stayAway')).map((at) => at - begun).toSorted((a, b) => a - b);
  const seconds = (share: number) => rounded((times[Math.ceil(times.length * share) - 1] ?? 0) / 1_000);
  const perSecond = new Map<number, number>();
  for (const at of times) perSecond.set(Math.floor(at / 1_000), (perSecond.get(Math.floor(at / 1_000)) ?? 0) + 1);
  return {
    ...returned,
    secondsToHalf: seconds(0.5),
    secondsTo99: seconds(0.99),
    secondsToAll: seconds(1),
    maxPerSecond: Math.max(0, ...perSecond.values()),
    cpuMsPerHandshake: rounded(usedMs() / Math.max(1, times.length)),
  };
}
