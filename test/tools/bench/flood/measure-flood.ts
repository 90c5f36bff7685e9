import { floodLogins } from '../../../support/login-flood.ts';
import type { TestServers } from '../../../support/start-test-servers.ts';
import type { Timed } from '../../../support/timed.ts';
import { measureOperation } from '../cost/measure-operation.ts';
import { apiOf, startOwnCandidate } from '../cost/own-candidate.ts';
import { type Percentiles, percentilesOf } from '../push/percentiles.ts';

export interface FloodOptions {
  readonly project: string;
  /** Number of logins, as a multiple of the api's capacity. */
  readonly times: number;
  readonly seconds: number;
}

/** Result of a flood of logins. */
export interface FloodResult {
  /** Logins per second that one api process answers on this machine, which also runs the clients. */
  readonly capacityPerSecond: number;
  /** Logins sent per second. */
  readonly sentPerSecond: number;
  readonly sent: number;
  readonly admitted: Percentiles;
  readonly shed: Percentiles;
  /** Share of 429 and 503, each with `Retry-After`, in all answers. */
  readonly shedShare: number;
  /** Numbers of logins that were neither answered as logins nor shed, by status or socket error. */
  readonly others: Readonly<Record<string, number>>;
  /** Number of restarts of the api's process. */
  readonly restarts: number;
  readonly refreshesMeanwhile: Percentiles;
  readonly memoryMib: { readonly before: number; readonly most: number };
}

const capacityCount = 300;
const capacityAtOnce = 4;
const intervalMs = 100;
/** Logins for the warm-up. Other operations need several thousand runs until their cost is steady. */
const warmUpLogins = 2_000;

/**
 * Finds the capacity, then sends `times` as many logins at a steady rate for the given time, without waiting for
 * answers.
 */
export async function measureFlood(servers: TestServers, options: FloodOptions): Promise<FloodResult> {
  const capacityPerSecond = await measureCapacity(servers, options.project);
  const wantedPerSecond = capacityPerSecond * options.times;
  const flood = await floodLogins({
    // An even number, because half have the right password and half an unknown address.
    logins: Math.ceil((wantedPerSecond * intervalMs) / 2_000) * 2,
    rounds: Math.ceil((options.seconds * 1_000) / intervalMs),
    everyMs: intervalMs,
    warmUpLogins,
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
