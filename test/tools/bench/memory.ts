import { existsSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { waitUntil } from '@auth-account/local-stack';
import { logIn, logOut, registerAccount } from '../../support/api/accounts.ts';
import { bearer, dataOf } from '../../support/api/api-driver.ts';
import { median } from '../../support/area-under-curve.ts';
import { startTestStack, type TestStack } from '../../support/processes/test-stack.ts';
import { startTestServers } from '../../support/stores/start-test-servers.ts';
import { bundleAll } from '../bundle-all.ts';
import { runAtOnce } from './concurrent-load.ts';
import { bytesIn, mallocBytes } from './machine/process-usage.ts';
import type { HeapReport } from './memory/heap-probe.ts';

/**
 * `npm run bench memory [-- --requests N] [-- --minutes N]`: the memory of each service's bundle at rest, after 10,000
 * requests of devices, and while as many again come, or for some minutes. It fails if the memory grows in that last
 * part. `BUNDLES=0` measures the sources.
 */
const { values } = parseArgs({
  options: { requests: { type: 'string', default: '10000' }, minutes: { type: 'string', default: '0' } },
});
const [requests, minutes] = [Number(values.requests), Number(values.minutes)];
const names = ['api', 'push-gateway', 'worker'] as const;

/** A device's requests, from the registration to the logout that closes its stream. */
const requestsOfDevice = 9;
const rounds = 12;
/** Growth that counts as none, in MiB and as a share: V8 compiles for some ten thousand requests. */
const stillWithin = { mib: 1, share: 0.03 };

async function useDevice(stack: TestStack): Promise<void> {
  const { email } = await registerAccount(stack);
  const tokens = await logIn(stack, email);
  const stream = await stack.openStream(tokens);
  const authorization = bearer(tokens);
  for (let read = 0; read < 4; read += 1) await stack.listSessions(authorization);
  await logOut(stack, await dataOf(stack.refreshTokens({ refresh_token: tokens.refresh_token })));
  await stream.closed;
}

/** Reads the memory of a process that runs heap-probe.ts, in bytes. */
async function readMemory(pid: number) {
  const [resident = 0, files = 0, anonymous = 0] = ['VmRSS', 'RssFile', 'RssAnon'].map((name) =>
    bytesIn(`/proc/${pid}/status`, name),
  );
  const file = join(reports, `${pid}.json`);
  rmSync(file, { force: true });
  process.kill(pid, 'SIGUSR2');
  const written = () => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  const hasReported = async () => written().endsWith('}');
  await waitUntil(hasReported, { what: `the report of process ${pid}`, timeoutMs: 20_000, intervalMs: 50 });
  const report: HeapReport = JSON.parse(written());
  const malloc = mallocBytes(pid);
  return {
    resident,
    /** Files that are mapped: the program itself and its libraries. */
    files,
    /** Allocated by native code: buffers, the text of modules, native packages. */
    malloc,
    ...report,
    /** Everything else: pages that V8 keeps empty for its next garbage, machine code, stacks. */
    rest: anonymous - malloc - report.heap,
  };
}

const mib = (bytes: number) => bytes / 2 ** 20;

type Reading = Readonly<Record<(typeof names)[number], Awaited<ReturnType<typeof readMemory>>>>;

/** Reads and prints the memory of all services. */
async function read(stack: TestStack, when: string): Promise<Reading> {
  const pairs = names.map(async (name) => [name, await readMemory(stack.services[name].pid() ?? 0)] as const);
  const reading = Object.fromEntries(await Promise.all(pairs)) as Reading;
  for (const [name, sizes] of Object.entries(reading)) {
    const shown = Object.entries(sizes).map(([kind, size]) => `${kind} ${mib(size).toFixed(1)}`);
    console.log(`${name}, ${when}, MiB: ${shown.join(', ')}`);
  }
  return reading;
}

/** Living objects, what native code holds, and all of it, of which the pages that V8 keeps are the most. */
const growingKinds = ['used', 'malloc', 'resident'] as const;
type GrowingKind = (typeof growingKinds)[number];

/**
 * Prints how a size changed from the third quarter of the readings to the last. Returns true if it grew. In the first
 * half, caches fill.
 */
function printGrowth(readings: readonly Reading[], name: (typeof names)[number], kind: GrowingKind): boolean {
  const sizes = readings.map((reading) => mib(reading[name][kind]));
  const quarter = rounds / 4;
  const [before, after] = [median(sizes.slice(-2 * quarter, -quarter)), median(sizes.slice(-quarter))];
  const grows = after - before > Math.max(stillWithin.mib, stillWithin.share * before);
  console.log(`${name}, ${kind}: ${before.toFixed(1)} to ${after.toFixed(1)} MiB: ${grows ? 'GROWS' : 'stands still'}`);
  return grows;
}

async function load(stack: TestStack, count: number, ms = 0): Promise<void> {
  const end = performance.now() + ms;
  const devices = Math.ceil(count / requestsOfDevice);
  do await runAtOnce({ count: devices, atOnce: 8 }, () => useDevice(stack));
  while (performance.now() < end);
  const isDelivered = async () => (await stack.collections.outbox.countDocuments({ state: 'pending' })) === 0;
  await waitUntil(isDelivered, { what: 'the delivery of the events', timeoutMs: 60_000, intervalMs: 100 });
}

if (process.env.BUNDLES === '1') await bundleAll();
const reports = await mkdtemp(join(tmpdir(), 'heap-reports-'));
const servers = await startTestServers();
const stack = await startTestStack({
  ...{ VALIDATE_RESPONSES: 'false', LOG_LEVEL: 'warn', HEAP_REPORTS: reports },
  NODE_OPTIONS: `--import=${new URL('./memory/heap-probe.ts', import.meta.url)}`,
});
try {
  await read(stack, 'at ready');
  await load(stack, requests);
  await read(stack, `after ${requests} requests`);
  const readings: Reading[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    await load(stack, requests / rounds, (minutes * 60_000) / rounds);
    readings.push(await read(stack, `round ${round} of ${rounds}`));
  }
  const growths = names.flatMap((name) => growingKinds.map((kind) => printGrowth(readings, name, kind)));
  if (growths.includes(true)) process.exitCode = 1;
} finally {
  await stack.close();
  await servers.stop();
  await rm(reports, { recursive: true });
}
