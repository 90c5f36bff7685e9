import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openRedis, type RedisClient, redisKeys, workerOptions } from '@auth-account/redis';
import { createVerifier, type Verifier, type VerifierOptions } from '@auth-account/verifier';
import { feedRevocations } from '@auth-account/verifier/feed';
import { redisRevocations } from '@auth-account/verifier/redis';
import { logOut, newSession } from '../../support/accounts.ts';
import { bearer } from '../../support/api-driver.ts';
import { internalServiceCredential } from '../../support/internal-services.ts';
import { startTestServers } from '../../support/start-test-servers.ts';
import { startTestStack, type TestStack } from '../../support/test-stack.ts';
import { percentilesOf } from './push/percentiles.ts';

/**
 * `npm run bench revocations [-- --logouts N] [-- --denials N]`: measures how a resource server learns of revocations,
 * from Redis and from the feed, with real services as processes. The figures are the time from a logout's answer to the
 * token's refusal, the first reading and the memory of a million denials, and the CPU of a question.
 */
const { values } = parseArgs({
  options: { logouts: { type: 'string', default: '100' }, denials: { type: 'string', default: '1000000' } },
});
const [logouts, denials] = [Number(values.logouts), Number(values.denials)];
const questions = 2_000;
const keyPrefix = 'auth';

const servers = await startTestServers();
const cheap = { ARGON2_MEMORY_KIB: '8', ARGON2_PASSES: '1', LOG_LEVEL: 'warn' };
const stack = await startTestStack({ ...cheap, KEY_PREFIX: keyPrefix });

type Source = Exclude<VerifierOptions['revocations'], 'none'>;
const sources: Readonly<Record<string, () => Source>> = {
  Redis: () => redisRevocations({ REDIS_URL: stack.redis.url, KEY_PREFIX: keyPrefix }),
  'the feed': () => feedRevocations({ credential: internalServiceCredential() }),
};

const open = (revocations: Source): Verifier =>
  createVerifier({ issuer: 'https://auth.local', audience: 'food-storage', reachedAt: stack.apiUrl, revocations });
const isDone = (work: Promise<unknown>) =>
  work.then(
    () => true,
    () => false,
  );
const isGood = (verifier: Verifier, token: string) => isDone(verifier.verify(token));

async function untilReady(verifier: Verifier): Promise<void> {
  while (!(await isDone(verifier.ready()))) await pause(5);
}

async function measureRefusals(name: string, source: Source): Promise<void> {
  const verifier = open(source);
  const took: number[] = [];
  while (took.length < logouts) {
    const session = await newSession(stack);
    if (!(await isGood(verifier, session.access_token))) throw new Error('a good token was refused');
    // The logout comes at a random moment between two questions to the source.
    await pause(Math.random() * 250);
    await logOut(stack, session);
    const begin = performance.now();
    while (await isGood(verifier, session.access_token)) await pause(1);
    took.push(performance.now() - begin);
  }
  verifier.close();
  const { p50, p99, max } = percentilesOf(took);
  console.log(`${name}: 200 of a logout → refusal, ${logouts} times: p50 ${p50}, p99 ${p99}, max ${max} ms`);
}

async function fill(redis: RedisClient): Promise<void> {
  const keys = redisKeys(keyPrefix);
  for (let done = 0; done < denials; done += 5_000) {
    const pipeline = redis.pipeline();
    for (let i = 0; i < Math.min(5_000, denials - done); i += 1) {
      const id = randomUUID();
      pipeline.set(keys.denied(id), 'none:LOGOUT_CONFIRMED', 'PX', 3_600_000);
      pipeline.zadd(keys.revocations, Date.now() - 600_000 + Math.floor(done / 5), id);
    }
    await pipeline.exec();
  }
}

const collect = () => (globalThis as { gc?: () => void }).gc?.();

/** Returns the api's CPU seconds and its memory in MiB, both from its own metrics. */
async function apiUse({ ops }: TestStack) {
  const { text } = await ops('api', '/metrics');
  const value = (name: string) => Number(new RegExp(`^${name}(?:{[^}]*})? ([\\d.e+]+)`, 'm').exec(text)?.[1]);
  return { cpu: value('process_cpu_seconds_total'), mib: value('process_resident_memory_bytes') / 2 ** 20 };
}

async function measureFirstReading(name: string, source: Source): Promise<void> {
  collect();
  const before = process.memoryUsage().heapUsed;
  const api = await apiUse(stack);
  const begin = performance.now();
  const cpu = process.cpuUsage();
  const verifier = open(source);
  await untilReady(verifier);
  const seconds = (performance.now() - begin) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  const after = await apiUse(stack);
  collect();
  const used = process.memoryUsage().heapUsed - before;
  console.log(
    `${name}: ${verifier.state().denials} denials read in ${seconds.toFixed(1)} s; resource server ${(used / 2 ** 20).toFixed(0)} MiB, ` +
      `${((user + system) / 1e6).toFixed(1)} s of CPU; api ${(after.cpu - api.cpu).toFixed(1)} s of CPU, ${after.mib.toFixed(0)} MiB`,
  );
  verifier.close();
}

async function measureQuestions(): Promise<void> {
  const headers = bearer(internalServiceCredential());
  const ask = (cursor: string) =>
    stack.readRevocations({ nonce: 'A'.repeat(22), cursor }, headers).then(({ json, text }) => {
      const claims = JSON.parse(Buffer.from(json.data.statement.split('.')[1], 'base64url').toString());
      return { cursor: claims.cursor as string, length: text.length };
    });
  let last = await ask('none');
  await pause(1_500);
  for (let i = 0; i < 500; i += 1) last = await ask(last.cursor);
  const before = await apiUse(stack);
  for (let i = 0; i < questions; i += 1) last = await ask(last.cursor);
  const { cpu } = await apiUse(stack);
  const each = ((cpu - before.cpu) / questions) * 1_000;
  console.log(`a question without news: ${each.toFixed(2)} ms of CPU of the api, ${last.length} bytes of body`);
}

const redis = openRedis({ REDIS_URL: stack.redis.url }, workerOptions());
try {
  for (const [name, source] of Object.entries(sources)) await measureRefusals(name, source());
  await measureQuestions();
  await fill(redis);
  for (const [name, source] of Object.entries(sources)) await measureFirstReading(name, source());
} finally {
  redis.disconnect();
  await stack.close();
  await servers.stop();
}
