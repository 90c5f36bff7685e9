import { createAccessTokenSigner, loadKeyFile } from '@auth-account/tokens';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Move, type ObedientApp, startObedientApp } from '../../support/client/obedient-app.ts';
import { type GatewayFixture, newDevice, openGatewayFixture } from '../../support/gateway/gateway-fixture.ts';
import { get } from '../../support/http-client.ts';
import { type ServiceProcess, startGatewayProcess } from '../../support/processes/service-process.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

/** 5,000 with `npm run test:long drain`, which also prints the arrivals. */
const clientCount = Number(process.env.DRAIN_CLIENTS ?? 500);
const reconnectsPerSecond = Math.min(500, clientCount / 2.5);
/** Shorter than the reconnects take, so that their slots continue after the last close. */
const drainSeconds = clientCount / reconnectsPerSecond / 2.5;
const openedAtOnce = 50;

let fixture: GatewayFixture;
let first: ServiceProcess;
let second: ServiceProcess;
let apps: ObedientApp[] = [];

beforeAll(async () => {
  fixture = await openGatewayFixture();
  const env = {
    ...fixture.env,
    DRAIN_SECONDS: String(drainSeconds),
    DRAIN_RECONNECTS_PER_SECOND: String(reconnectsPerSecond),
    LOG_LEVEL: 'info',
  };
  [first, second] = await Promise.all([startGatewayProcess(env), startGatewayProcess(env)]);
  for (const { opsBase } of [first, second]) {
    await eventually('readiness', async () => (await get(opsBase, '/readyz')).status === 200);
  }
});

afterAll(async () => {
  for (const app of apps) app.close();
  for (const gateway of [first, second]) {
    gateway?.signal('SIGKILL');
    await gateway?.exited;
  }
  await fixture?.close();
});

async function openApps(): Promise<ObedientApp[]> {
  const sign = createAccessTokenSigner({
    keys: await loadKeyFile(fixture.env.ACCESS_TOKEN_KEYS_FILE ?? ''),
    issuer: 'https://auth.local',
    audience: 'food-storage',
    ttlSeconds: 600,
  });
  const openApp = () => {
    const { userId, sessionId, groupId, ver } = newDevice();
    const claims = { user_id: userId, home_group_id: groupId, account_type: 'HOME', ver } as const;
    const token = sign({ ...claims, sid: sessionId, device_id: userId });
    return startObedientApp(first.base, second.base, { sessionId, token });
  };
  const opened: ObedientApp[] = [];
  while (opened.length < clientCount) {
    const some = Math.min(openedAtOnce, clientCount - opened.length);
    opened.push(...(await Promise.all(Array.from({ length: some }, openApp))));
  }
  return opened;
}

/** Returns the highest number of arrivals within any window of this length. */
function maxWithin(windowMs: number, times: readonly number[]): number {
  let from = 0;
  const counts = times.map((time, index) => {
    while (time - (times[from] as number) >= windowMs) from += 1;
    return index - from + 1;
  });
  return Math.max(...counts);
}

/** Measures for how long this process stalled, because arrivals during a stall get the time of its end. */
function watchForStalls() {
  const [everyMs, shortestStallMs] = [20, 100];
  let [last, sumMs] = [performance.now(), 0];
  const timer = setInterval(() => {
    const now = performance.now();
    if (now - last > shortestStallMs) sumMs += now - last;
    last = now;
  }, everyMs);
  return {
    sumMs() {
      clearInterval(timer);
      return sumMs;
    },
  };
}

function printArrivals(moves: readonly Move[], arrivals: readonly number[], start: number): void {
  const at = (times: readonly number[], second: number) =>
    times.filter((time) => Math.floor((time - start) / 1_000) === second).length;
  const closes = moves.map(({ closedAt }) => closedAt);
  const seconds = Math.ceil(((arrivals.at(-1) ?? start) - start) / 1_000);
  console.table(
    Array.from({ length: seconds }, (_, second) => ({
      second,
      closed: at(closes, second),
      arrived: at(arrivals, second),
    })),
  );
  console.log({
    reconnectsPerSecond,
    maxWithin100ms: maxWithin(100, arrivals),
    maxWithin1s: maxWithin(1_000, arrivals),
    maxAfterMs: Math.max(...moves.map(({ afterMs }) => afterMs)),
  });
}

// guarantees: drain-rate
test('apps that a stopping gateway sends away come to the next one no faster than configured', async () => {
  apps = await openApps();
  const stalls = watchForStalls();
  const start = performance.now();
  first.signal('SIGTERM');
  const moves = await Promise.all(apps.map(({ moved }) => moved));
  expect(await first.exited).toEqual({ code: 0, signal: null });
  expect(new Set(moves.map(({ closeCode, status }) => `${closeCode} ${status}`))).toEqual(new Set(['1001 101']));
  const arrivals = moves.map(({ arrivedAt }) => arrivedAt).toSorted((a, b) => a - b);
  if (process.env.DRAIN_CLIENTS) printArrivals(moves, arrivals, start);
  // No app arrives before its slot. On a busy machine apps are late, never early.
  const slotMs = 1_000 / reconnectsPerSecond;
  const early = arrivals.filter((time, index) => time - start < index * slotMs * 0.98);
  expect(early).toEqual([]);
  // If all apps arrived together, that would be 2.5 times the rate, or more.
  const planned = moves.map(({ closedAt, afterMs }) => closedAt + afterMs).toSorted((a, b) => a - b);
  expect(maxWithin(1_000, planned)).toBeLessThan(reconnectsPerSecond * (2 + stalls.sumMs() / 1_000));
  expect(first.output()).toContain(`"streams":${clientCount},"closingMs":${drainSeconds * 1_000},`);
});
