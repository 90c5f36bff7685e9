import { parseArgs } from 'node:util';

/** A number that the calculator can't know. */
interface Assumption {
  readonly byDefault: number;
  readonly about: string;
  readonly least: number;
  readonly most: number;
  /** Set if only whole numbers are valid. */
  readonly isWhole?: true;
}

/** The assumptions by the names of their options. */
export const assumptions = {
  devices: {
    byDefault: 1_000_000,
    about: 'devices with a stream at the same time',
    least: 1,
    most: 1e10,
    isWhole: true,
  },
  ttl: { byDefault: 600, about: 'ACCESS_TOKEN_TTL_SECONDS', least: 60, most: 86_400, isWhole: true },
  early: { byDefault: 60, about: 'seconds before its end at which an app refreshes a token', least: 0, most: 86_000 },
  accounts: { byDefault: 2, about: 'accounts for each connected device', least: 0, most: 1_000 },
  sessions: { byDefault: 3, about: 'live sessions for each connected device', least: 1, most: 1_000 },
  requests: { byDefault: 12, about: 'authenticated requests of a device to the api per hour', least: 0, most: 1e6 },
  handshakes: { byDefault: 1, about: 'new connections of a device per hour', least: 0, most: 1e5 },
  logins: { byDefault: 0.01, about: 'logins for each device per hour, at the peak', least: 0, most: 1_000 },
  average: { byDefault: 0.33, about: 'logins on average, as a share of the peak', least: 0, most: 1 },
  registrations: { byDefault: 0.2, about: 'registrations for each login', least: 0, most: 100 },
  logouts: { byDefault: 0.5, about: 'logouts for each login', least: 0, most: 100 },
  subscribers: { byDefault: 1, about: 'subscribers to registrations', least: 0, most: 100, isWhole: true },
  'api-cores': { byDefault: 4, about: 'cores of an api pod', least: 0.1, most: 256 },
  'gateway-mib': {
    byDefault: 2_048,
    about: 'memory limit of a gateway pod, MiB',
    least: 256,
    most: 1e6,
    isWhole: true,
  },
  'gateway-streams': {
    byDefault: 100_000,
    about: 'streams of a gateway pod at most: so many connect again if it is killed',
    least: 1,
    most: 1e6,
    isWhole: true,
  },
  busy: { byDefault: 0.6, about: 'share of a pod’s cores that the peak may take', least: 0.05, most: 1 },
  'mongodb-cores': { byDefault: 32, about: 'cores of a MongoDB primary', least: 1, most: 1_024 },
  'mongodb-busy': { byDefault: 0.35, about: 'share of them that the peak may take', least: 0.05, most: 1 },
  'mongodb-cache': { byDefault: 64, about: 'GiB of a primary’s cache', least: 0.25, most: 1e5 },
  'mongodb-disk': { byDefault: 2_000, about: 'GiB of a primary’s disk', least: 10, most: 1e6 },
  'redis-busy': { byDefault: 0.5, about: 'share of its one core that a Redis master may take', least: 0.05, most: 1 },
  'redis-memory': { byDefault: 16, about: 'GiB of a Redis master', least: 0.1, most: 1e4 },
  shards: {
    byDefault: 1,
    about: 'MongoDB primaries in one cell at most: more than 1 is the plan for a sharded MongoDB, which is not built',
    least: 1,
    most: 1_000,
    isWhole: true,
  },
} as const satisfies Readonly<Record<string, Assumption>>;

export type AssumptionName = keyof typeof assumptions;
export type Assumptions = Readonly<Record<AssumptionName, number>>;

export const assumptionNames = Object.keys(assumptions) as AssumptionName[];

/** An invalid command line. The message says what is valid. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Returns each assumption's value, from the command line or by default; undefined if the arguments ask for help. */
export function parseAssumptions(args: readonly string[]): Assumptions | undefined {
  const { help, ...given } = parseOptions(args);
  if (help) return undefined;
  const values = assumptionNames.map((name) => [name, toNumber(name, given[name])] as const);
  const found = Object.fromEntries(values) as Assumptions;
  if (found.early >= found.ttl) throw new UsageError('--early must be less than --ttl');
  return found;
}

function parseOptions(args: readonly string[]): Partial<Record<AssumptionName, string>> & { help?: boolean } {
  const options = Object.fromEntries(assumptionNames.map((name) => [name, { type: 'string' }] as const));
  try {
    return parseArgs({ args: [...args], options: { ...options, help: { type: 'boolean', short: 'h' } } }).values;
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

function toNumber(name: AssumptionName, text: string | undefined): number {
  const { byDefault, least, most, isWhole }: Assumption = assumptions[name];
  if (text === undefined) return byDefault;
  const value = text.trim() === '' ? Number.NaN : Number(text);
  const isGood = value >= least && value <= most && (!isWhole || Number.isInteger(value));
  if (isGood) return value;
  throw new UsageError(`--${name} must be a ${isWhole ? 'whole ' : ''}number from ${least} to ${most}, not "${text}"`);
}

export function usage(): string {
  const lines = assumptionNames.map((name) => {
    const { byDefault, about } = assumptions[name];
    return `  --${name.padEnd(15)} ${about} (${byDefault})`;
  });
  return ['npm run capacity -- [options]: what a deployment needs, from the figures of the bench', '', ...lines].join(
    '\n',
  );
}
