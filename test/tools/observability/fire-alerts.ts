import { setTimeout as pause } from 'node:timers/promises';
import { waitUntil } from '@auth-account/local-stack';
import { type Provider, startProvider } from '@auth-account/local-stack/provider';
import { exchangingEntry } from '../../support/api/providers.ts';
import { startTestStack, type TestStack } from '../../support/processes/test-stack.ts';
import { startTestServers } from '../../support/stores/start-test-servers.ts';
import { startReceiver, status } from '../../support/worker/worker-receiver.ts';
import { type Fault, faultsWith } from './faults.ts';
import { readRules } from './rule-file.ts';
import { speedUp } from './speed-up.ts';
import { type ActiveAlert, type Prometheus, startPrometheus } from './start-prometheus.ts';

/**
 * `npm run test:long alerts`: has a real Prometheus scrape the real services, with the chart's rules sixty times as
 * fast (`speed-up.ts`). Without a fault, no alert may fire. Then one fault follows another, and each fault's alerts
 * must fire within two minutes. Prints the alerts with their times, and exits with 1 if any did not fire.
 */

const quietMs = 15_000;
const limitMs = 120_000;
/** Logins by passkey of one network in 15 minutes: enough for an alert about their faults, then a limit. */
const passkeyLimit = 40;
const endings: (() => Promise<unknown>)[] = [];

/** Throws if an alert fires without a fault. */
async function assertQuiet(prometheus: Prometheus): Promise<void> {
  const until = performance.now() + quietMs;
  while (performance.now() < until) {
    const firing = await findFiring(prometheus);
    if (firing.length > 0) throw new Error(`fires though all is well: ${firing.map(describe).join('; ')}`);
    await pause(500);
  }
}

async function findFiring(prometheus: Prometheus): Promise<ActiveAlert[]> {
  return (await prometheus.alerts()).filter(({ state }) => state === 'firing');
}

function describe({ labels, annotations }: ActiveAlert): string {
  return `${labels.alertname}: ${annotations.description}`;
}

type Row = readonly [fault: string, alert: string, after: string, says: string];

/** Causes the fault, and waits for its alerts. The row of an alert that did not fire says so. */
async function watch(fault: Fault, prometheus: Prometheus, stack: TestStack): Promise<Row[]> {
  const enough = new AbortController();
  const start = performance.now();
  const induced = fault.induce(stack, enough.signal);
  const rows = new Map<string, Row>();
  while (rows.size < fault.alerts.length && performance.now() - start < limitMs) {
    for (const alert of await findFiring(prometheus)) {
      const name = alert.labels.alertname ?? '';
      if (!fault.alerts.includes(name) || rows.has(name)) continue;
      const seconds = ((performance.now() - start) / 1_000).toFixed(0);
      rows.set(name, [fault.name, name, `${seconds} s`, alert.annotations.description ?? '']);
    }
    await pause(250);
  }
  enough.abort();
  await induced;
  return fault.alerts.map((name) => rows.get(name) ?? [fault.name, name, 'did not fire', '']);
}

async function startStack(provider: Provider): Promise<TestStack> {
  const servers = await startTestServers();
  endings.push(servers.stop);
  const [failing, gone] = [await startReceiver('failing', status(500)), await startReceiver('gone', status(410))];
  endings.push(failing.close, gone.close);
  const stack = await startTestStack({
    EVENT_SUBSCRIBERS: JSON.stringify([failing.subscriber, gone.subscriber]),
    DELIVERY_GIVE_UP_SECONDS: '20',
    // This limit is so small that the clients of one machine can exceed it.
    HASH_QUEUE_LIMIT: '4',
    IDENTITY_PROVIDERS: JSON.stringify([{ ...exchangingEntry(provider), notices: 'apple' }]),
    PASSKEY_LIMIT_PER_ADDRESS: String(passkeyLimit),
  });
  endings.push(stack.close);
  return stack;
}

async function run(): Promise<Row[]> {
  const provider = await startProvider();
  endings.push(provider.close);
  const stack = await startStack(provider);
  const ports = Object.entries(stack.opsPorts);
  const targets = Object.fromEntries(ports.map(([service, port]) => [`auth-${service}`, `127.0.0.1:${port}`]));
  const prometheus = await startPrometheus(speedUp(readRules()), targets);
  endings.push(prometheus.close);
  const isWell = async () => {
    const ready = await prometheus.query('auth_ready == 1');
    return ready.length === Object.keys(targets).length && (await findFiring(prometheus)).length === 0;
  };
  await waitUntil(isWell, { what: 'all services scraped and ready', timeoutMs: 30_000 });
  await assertQuiet(prometheus);
  const rows: Row[] = [];
  for (const fault of faultsWith(provider)) rows.push(...(await watch(fault, prometheus, stack)));
  return rows;
}

try {
  const rows = await run();
  console.log('| fault | alert | fired after | says |\n| --- | --- | --- | --- |');
  for (const row of rows) console.log(`| ${row.join(' | ')} |`);
  const isWell = rows.every(([, , after, says]) => after !== 'did not fire' && !says.includes('error expanding'));
  process.exitCode = isWell ? 0 : 1;
} finally {
  for (const end of endings.reverse()) await end();
}
