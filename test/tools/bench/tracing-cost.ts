import { readFileSync } from 'node:fs';
import { startTestServers } from '@auth-account/local-stack';
import { newSession } from '../../support/accounts.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../../support/otlp-receiver.ts';
import { startTestStack, type TestStack } from '../../support/test-stack.ts';

/**
 * `npm run bench tracing [-- --requests N]`: measures CPU milliseconds of the api per request, with tracing off, with
 * every request traced and with one in a hundred traced, in turns in one run. The receiver accepts OTLP over HTTP, as
 * protobuf.
 */
const flag = process.argv.indexOf('--requests');
const requests = flag === -1 ? 3_000 : Number(process.argv[flag + 1]);
const rounds = 3;
const atOnce = 8;
const ticksPerSecond = 100;

/** Returns the user and system time of a process so far, in milliseconds (proc(5), fields 14 and 15 of `stat`). */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return ((Number(fields[11]) + Number(fields[12])) / ticksPerSecond) * 1_000;
}

const cases: Readonly<Record<string, (otlp: OtlpReceiver) => Record<string, string>>> = {
  off: () => ({}),
  'on, 100 %': ({ url }) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: url }),
  'on, 1 %': ({ url }) => ({
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.01',
  }),
};

const operations: Readonly<Record<string, (stack: TestStack, tokens: Tokens) => Promise<{ status: number }>>> = {
  'GET sessions': (stack, { access_token }) =>
    stack.get('/api/v1/auth/sessions', { Authorization: `Bearer ${access_token}` }),
  refresh: (stack, { refresh_token }) => stack.post('/api/v1/auth/refresh', { refresh_token }),
};

type Tokens = Awaited<ReturnType<typeof newSession>>;

async function measure(stack: TestStack, run: () => Promise<{ status: number }>): Promise<number> {
  const pid = stack.services.api.pid();
  if (pid === undefined) throw new Error('the api does not run');
  const before = cpuMs(pid);
  let left = requests;
  const client = async () => {
    while (left > 0) {
      left -= 1;
      const { status } = await run();
      if (status !== 200) throw new Error(`answered ${status}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, client));
  return (cpuMs(pid) - before) / requests;
}

const servers = await startTestServers(() => undefined);
process.env.TEST_MONGODB_URI = servers.mongo.uri;
process.env.TEST_REDIS_URL = servers.redis.url;
process.env.TEST_KEYS_DIR = servers.keysDir;
const otlp = await startOtlpReceiver({ keep: false });
const stacks: [string, TestStack, Tokens][] = [];
try {
  for (const [name, settings] of Object.entries(cases)) {
    const quiet = { ARGON2_MEMORY_KIB: '64', ARGON2_PASSES: '1', LOG_LEVEL: 'warn', VALIDATE_RESPONSES: 'false' };
    const stack = await startTestStack({ ...quiet, ...settings(otlp) });
    stacks.push([name, stack, await newSession(stack)]);
  }
  for (const [operation, run] of Object.entries(operations)) {
    for (let round = 0; round <= rounds; round += 1) {
      for (const [name, stack, tokens] of stacks) {
        const ms = await measure(stack, () => run(stack, tokens));
        // The first round is for warm-up.
        if (round > 0)
          console.log(`${operation}, tracing ${name}, round ${round}: ${ms.toFixed(3)} ms of CPU a request`);
      }
    }
  }
} finally {
  for (const [, stack] of stacks) await stack.close();
  await otlp.close();
  await servers.stop();
}
