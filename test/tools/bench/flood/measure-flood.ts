import type { TestServers } from '@auth-account/local-stack';
import { floodLogins } from '../../../support/login-flood.ts';
import type { Timed } from '../../../support/timed.ts';
import { measureOperation } from '../cost/measure-operation.ts';
import { apiOf, startOwnCandidate } from '../cost/own-candidate.ts';
import { type Percentiles, percentilesOf } from '../push/percentiles.ts';

export interface FloodOptions {
  readonly project: string;
  /** How many times as many logins come as the api can answer. */
  readonly times: number;
  readonly seconds: number;
}

/** How a flood of logins went. */
export interface FloodResult {
  /** Logins per second that one api process answers on this machine, with its clients beside it. */
  readonly capacityPerSecond: number;
  /** As they came. */
  readonly sentPerSecond: number;
  readonly sent: number;
  readonly admitted: Percentiles;
  readonly shed: Percentiles;
  /** 429 and 503, each with `Retry-After`, over all. */
  readonly shedShare: number;
  /** Neither answered as a login nor shed: status or socket error → how often. */
  readonly others: Readonly<Record<string, number>>;
  /** How often the api's process was started again. */
  readonly restarts: number;
  readonly refreshesMeanwhile: Percentiles;
  readonly memoryMib: { readonly before: number; readonly most: number };
}

const capacityCount = 300;
const capacityAtOnce = 4;
const intervalMs = 100;

/** Finds the capacity, then sends as many times that for so long, steadily, whether or not those before were answered. */
export async function measureFlood(servers: TestServers, options: FloodOptions): Promise<FloodResult> {
  const capacityPerSecond = await measureCapacity(servers, options.project);
  const wantedPerSecond = capacityPerSecond * options.times;
  const flood = await floodLogins({
    // Half right, half of nobody's addresses.
    logins: Math.ceil((wantedPerSecond * intervalMs) / 2_000) * 2,
    rounds: Math.ceil((options.seconds * 1_000) / intervalMs),
    everyMs: intervalMs,
  });
  const { logins, sendingMs, flooded, memoryBefore, memoryPeak, restarts } = flood;
  const shed = logins.filter(isShed);
  const admitted = logins.filter(isAdmitted);
  const others = Map.groupBy(
    logins.filter((login) => !isShed(login) && !isAdmitted(login)),
    ({ status, error }) => error ?? String(status),
  );
  return {
    capacityPerSecond,
    sentPerSecond: (logins.length / sendingMs) * 1_000,
    sent: logins.length,
    admitted: percentilesOf(times(admitted)),
    shed: percentilesOf(times(shed)),
    shedShare: shed.length / logins.length,
    others: Object.fromEntries([...others].map(([name, of]) => [name, of.length])),
    restarts,
    refreshesMeanwhile: percentilesOf(times(flooded.refreshes)),
    memoryMib: { before: memoryBefore, most: memoryPeak },
  };
}

const isAdmitted = ({ status }: Timed) => status === 200 || status === 401;
const isShed = ({ status, retryAfter }: Timed) => (status === 429 || status === 503) && retryAfter !== undefined;
const times = (answers: readonly Timed[]) => answers.map(({ ms }) => ms);

async function measureCapacity(servers: TestServers, project: string): Promise<number> {
  const api = await startOwnCandidate(apiOf('api', project), servers);
  try {
    const load = { count: capacityCount, atOnce: capacityAtOnce };
    await measureOperation('login', api, servers, load);
    return (await measureOperation('login', api, servers, load)).perSecond;
  } finally {
    await api.end();
  }
}
