import type { Capacity } from './model.ts';
import { type AssumptionName, type Assumptions, assumptionNames, assumptions } from './options.ts';

/** A line of the result, with a name and an amount. */
export type Line = readonly [what: string, amount: string];

/** Formats a number with three significant digits, and commas. */
export function amount(value: number): string {
  const digits = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value))) + 1;
  const rounded = digits >= 3 ? Math.round(value / 10 ** (digits - 3)) * 10 ** (digits - 3) : value;
  return rounded.toLocaleString('en', { maximumFractionDigits: Math.max(0, Math.min(3, 3 - digits)) });
}

const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'] as const;

/** Formats a number of bytes, with units in powers of a thousand. */
export function byteAmount(bytes: number): string {
  const place = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  return `${amount(bytes / 1_000 ** place)} ${units[place]}`;
}

const bits = (bytesPerSecond: number) => `${amount((bytesPerSecond * 8) / 1e6)} Mbit/s`;
const daySeconds = 86_400;

/** Returns the lines of the result. */
export function capacityLines({ load, cells, ...needed }: Capacity): Line[] {
  const { api, gateway, worker, mongodb, redis, bandwidth, everybodySeconds } = needed;
  return [
    ['refreshes/s', amount(load.refreshes)],
    ['authenticated requests/s', amount(load.reads)],
    ['handshakes/s', amount(load.handshakes)],
    ['logins, registrations, logouts/s', [load.logins, load.registrations, load.logouts].map(amount).join(', ')],
    ['cells (deployments with one Redis master each)', amount(cells)],
    ['api: pods, with one to lose in each cell', `${amount(api.pods)} (${amount(api.cores)} cores)`],
    ['push-gateway: pods, likewise', `${amount(gateway.pods)} (${amount(gateway.streams)} streams at most in each)`],
    ['push-gateway: CPU of each at the peak', `${amount(gateway.busy * 100)} % of a core`],
    ['worker: pods', amount(worker.pods)],
    ['MongoDB: primaries, each with two secondaries', amount(mongodb.primaries)],
    ['MongoDB: cores of all primaries that are busy', amount(mongodb.cores)],
    ['MongoDB: oplog of 24 h', byteAmount(mongodb.oplogBytes * daySeconds)],
    ['MongoDB: disk without oplog', byteAmount(mongodb.diskBytes)],
    ['MongoDB: cache', byteAmount(mongodb.cacheBytes)],
    ['Redis: masters, each with a replica', amount(redis.masters)],
    ['Redis: cores of all masters that are busy', amount(redis.cores)],
    ['Redis: memory', byteAmount(redis.memoryBytes)],
    ['bandwidth: HTTP, without TLS', bits(bandwidth.http)],
    ['bandwidth: idle streams', bits(bandwidth.streams)],
    ['bandwidth: to each secondary', bits(bandwidth.replication)],
    ['everybody logs in again', `${amount(everybodySeconds / 60)} min`],
  ];
}

/** Returns a line for each assumption, with its option. */
export function assumptionLines(on: Assumptions): Line[] {
  const told = (name: AssumptionName): Line => [`--${name}`, `${on[name]} ${assumptions[name].about}`];
  return assumptionNames.map(told);
}

/** Formats lines as two columns. */
export function inColumns(lines: readonly Line[]): string {
  const width = Math.max(...lines.map(([what]) => what.length));
  return lines.map(([what, shown]) => `  ${what.padEnd(width)}  ${shown}`).join('\n');
}
