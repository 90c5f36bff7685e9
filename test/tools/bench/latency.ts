import { logOut, newSession } from '../../support/accounts.ts';
import { startTestServers } from '../../support/start-test-servers.ts';
import { startTestStack } from '../../support/test-stack.ts';
import { latencySettings, measureEventLatency } from './events/measure-event-latency.ts';
import { type Percentiles, percentilesOf } from './push/percentiles.ts';

/**
 * `npm run bench latency [-- --streams N]`: with N open streams (1,000), measures the time from a logout's 200 to its
 * close frame at the client, one logout after another, and the time from a registration's 201 to its event at the
 * subscriber. It runs the three services as processes, with a real MongoDB and Redis, and the clients in its own
 * process. Hashes may be cheap, because no measured time contains one.
 */
const streamsFlag = process.argv.indexOf('--streams');
const streamCount = streamsFlag === -1 ? 1_000 : Number(process.argv[streamsFlag + 1]);
const eventCount = 200;

function report(what: string, { count, min, p50, p99, max }: Percentiles): void {
  console.log(`${what}: n=${count} min=${min} p50=${p50} p99=${p99} max=${max} ms`);
}

const servers = await startTestServers(() => undefined);
process.env.TEST_MONGODB_URI = servers.mongo.uri;
process.env.TEST_REDIS_URL = servers.redis.url;
process.env.TEST_KEYS_DIR = servers.keysDir;
const stack = await startTestStack({
  ...latencySettings,
  MAX_STREAMS_PER_GROUP: '100000',
  HANDSHAKE_LIMIT_PER_ADDRESS: '10000000',
});
try {
  const sessions: Awaited<ReturnType<typeof newSession>>[] = [];
  while (sessions.length < streamCount) {
    sessions.push(...(await Promise.all(Array.from({ length: 20 }, () => newSession(stack)))));
  }
  const streams = await Promise.all(sessions.map((session) => stack.openStream(session)));
  console.log(`${streams.length} streams open`);

  const fromAnswer: number[] = [];
  const fromRequest: number[] = [];
  for (const [index, session] of sessions.entries()) {
    const start = performance.now();
    const [closedAt, answeredAt] = await Promise.all([
      streams[index]?.closed.then(({ at }) => at) ?? NaN,
      logOut(stack, session).then(() => performance.now()),
    ]);
    fromAnswer.push(closedAt - answeredAt);
    fromRequest.push(closedAt - start);
  }
  report('200 of a logout → close frame at the client (below zero: the frame came first)', percentilesOf(fromAnswer));
  report('request of a logout → close frame at the client', percentilesOf(fromRequest));

  const toEvent = await measureEventLatency(stack, eventCount);
  report('201 of a registration → event at the subscriber', toEvent);
} finally {
  await stack.close();
  await servers.stop();
}
