import type { BenchFigures } from './bench-figures.ts';
import { figures as measured } from './figures.ts';
import type { Assumptions } from './options.ts';

/** Values of the figures by their names. */
export type FigureValues = { readonly [F in keyof typeof measured]: number };

export const figureValues = Object.fromEntries(
  Object.entries(measured).map(([name, { value }]) => [name, value]),
) as FigureValues;

const MiB = 2 ** 20;
const GiB = 2 ** 30;
const daySeconds = 86_400;
/** Factor for real data, which compresses less than the measured copies. */
const diskReserve = 1.5;
const sessionDays = 181;
const outboxDays = 7;
/** Number of ended jobs that a queue keeps. */
const keptJobs = 20_000;
const denialSeconds = 695;
const emptyRedisBytes = 15_000_000;
/** Share of its memory limit that a gateway may fill. */
const gatewayFill = 0.8;
/** Share of its core that a gateway may spend on messages about other gateways' streams. */
const hearingShare = 0.3;

/** Requests per second to the whole deployment at the peak. */
export interface Load {
  readonly refreshes: number;
  readonly reads: number;
  readonly handshakes: number;
  readonly logins: number;
  readonly registrations: number;
  readonly logouts: number;
}

export function loadOf(on: Assumptions): Load {
  const logins = (on.devices * on.logins) / 3_600;
  return {
    refreshes: on.devices / (on.ttl - on.early),
    reads: (on.devices * on.requests) / 3_600,
    handshakes: (on.devices * on.handshakes) / 3_600,
    logins,
    registrations: logins * on.registrations,
    logouts: logins * on.logouts,
  };
}

/** The needs of a deployment. Cores are those that are busy at the peak, unless a comment says otherwise. */
export interface Capacity {
  readonly load: Load;
  /** Number of cells, which are deployments with one Redis master each. */
  readonly cells: number;
  readonly api: { readonly cores: number; readonly pods: number };
  readonly gateway: { readonly streams: number; readonly pods: number; readonly busy: number };
  readonly worker: { readonly pods: number };
  readonly mongodb: {
    /** Number of primaries in all cells, each of which has secondaries. */
    readonly primaries: number;
    readonly cores: number;
    readonly oplogBytes: number;
    readonly diskBytes: number;
    readonly cacheBytes: number;
  };
  readonly redis: { readonly masters: number; readonly cores: number; readonly memoryBytes: number };
  /** Bytes per second. */
  readonly bandwidth: { readonly http: number; readonly streams: number; readonly replication: number };
  /** Seconds until every device has logged in again, on the api's cores. */
  readonly everybodySeconds: number;
}

/** Returns what the devices need. `figures` and `bench` have the costs of one operation. */
export function capacityOf(on: Assumptions, bench: BenchFigures, figures: FigureValues = figureValues): Capacity {
  const load = loadOf(on);
  const api = coresOf(load, bench, 'api') / on.busy;
  const mongodb = mongodbOf(on, load, bench, figures);
  const redisCores = redisCoresOf(on, load, bench, figures);
  const redisBytes = redisBytesOf(on, load, figures);
  const heard = ((load.handshakes + load.logouts) * figures.heardMs) / 1_000;
  const masters = Math.max(redisCores / on['redis-busy'], redisBytes / (on['redis-memory'] * GiB));
  const cells = Math.ceil(Math.max(1, masters, heard / hearingShare, mongodb.primaries / on.shards));
  const inCells = (needed: number, spare: number) => cells * Math.max(2, Math.ceil(needed / cells) + spare);
  const fit = Math.floor((gatewayFill * on['gateway-mib'] - figures.gatewayMiB) / (figures.streamBytes / MiB));
  const streams = Math.min(fit, on['gateway-streams']);
  const gateways = inCells(on.devices / streams, 1);
  const handshakeCores = (load.handshakes * bench.handshakeMs) / 1_000;
  return {
    load,
    cells,
    api: { cores: api, pods: inCells(api / on['api-cores'], 1) },
    gateway: { streams, pods: gateways, busy: handshakeCores / gateways + heard / cells },
    worker: { pods: inCells((load.registrations * on.subscribers) / figures.workerEventsPerSecond, 1) },
    mongodb: { ...mongodb, primaries: cells * Math.ceil(mongodb.primaries / cells) },
    redis: { masters: cells, cores: redisCores, memoryBytes: redisBytes },
    bandwidth: {
      http: httpOf(load, figures),
      streams: on.devices * figures.pingBytesPerSecond,
      replication: mongodb.oplogBytes,
    },
    everybodySeconds: (on.devices * bench.operations.login.api) / 1_000 / api,
  };
}

/** Returns the cores that the load keeps busy in the process. */
function coresOf(load: Load, { operations }: BenchFigures, process: 'api' | 'mongodb' | 'redis'): number {
  const ms =
    load.refreshes * operations.refresh[process] +
    load.reads * operations['session read'][process] +
    load.logins * operations.login[process] +
    load.registrations * operations.register[process] +
    load.logouts * operations.logout[process];
  return ms / 1_000;
}

function mongodbOf(on: Assumptions, load: Load, bench: BenchFigures, figures: FigureValues): Capacity['mongodb'] {
  const events = load.registrations * on.subscribers;
  const cores = coresOf(load, bench, 'mongodb') + (events * figures.eventMongodbMs) / 1_000;
  const oplogBytes =
    load.refreshes * figures.refreshOplogBytes +
    load.logins * figures.loginOplogBytes +
    load.registrations * figures.registerOplogBytes +
    load.logouts * figures.logoutOplogBytes;
  const a = on.average * daySeconds;
  const accounts = on.devices * on.accounts;
  const diskBytes =
    diskReserve *
    (accounts * (figures.userDiskBytes + figures.groupDiskBytes) +
      load.logins * a * sessionDays * figures.sessionDiskBytes +
      load.registrations * a * outboxDays * figures.outboxDiskBytes);
  const usedInADay = Math.min(accounts, load.logins * a);
  const cacheBytes = on.devices * on.sessions * figures.sessionBytes + usedInADay * figures.userBytes;
  const primaries = Math.ceil(
    Math.max(
      1,
      cores / (on['mongodb-cores'] * on['mongodb-busy']),
      cacheBytes / (on['mongodb-cache'] * GiB),
      (diskBytes + oplogBytes * daySeconds) / (on['mongodb-disk'] * GiB),
    ),
  );
  return { primaries, cores, oplogBytes, diskBytes, cacheBytes };
}

function redisCoresOf(on: Assumptions, load: Load, bench: BenchFigures, figures: FigureValues): number {
  const events = load.registrations * on.subscribers;
  const beside = load.handshakes * figures.handshakeRedisMs + events * figures.eventRedisMs;
  return coresOf(load, bench, 'redis') + beside / 1_000;
}

function redisBytesOf(on: Assumptions, load: Load, figures: FigureValues): number {
  const queues = 2 * (on.subscribers + 1);
  return (
    on.devices * on.accounts * figures.accountRedisBytes +
    Math.min(keptJobs, load.registrations * daySeconds) * queues * figures.jobRedisBytes +
    load.logouts * denialSeconds * figures.denialRedisBytes +
    emptyRedisBytes
  );
}

function httpOf(load: Load, figures: FigureValues): number {
  return (
    load.refreshes * figures.refreshHttpBytes +
    load.reads * figures.readHttpBytes +
    load.logins * figures.loginHttpBytes +
    load.registrations * figures.registerHttpBytes +
    load.logouts * figures.logoutHttpBytes
  );
}
