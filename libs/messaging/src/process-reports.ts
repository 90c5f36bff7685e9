import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { RedisClient, RedisKeys } from '@auth-account/redis';

/** Ids of the keys of a file. */
export interface ReportedKeys {
  /** The key that signs or seals; missing if the process only verifies. */
  readonly signs?: string;
  /** The keys that are accepted. */
  readonly takes: readonly string[];
}

/** Settings and keys on which processes must agree. */
export interface ReportedSettings {
  readonly issuer?: string;
  readonly audience?: string;
  /** Seconds of life of the access tokens that the process signs, and the longest life that it accepts. */
  readonly token_seconds?: { readonly signs?: number; readonly takes: number };
  readonly keys: Readonly<Partial<Record<'access' | 'refresh' | 'server', ReportedKeys>>>;
  /** Providers that have refused the process since they last took its proof, with the fault and the time of the last refusal. */
  readonly refused_by?: Readonly<Record<string, { readonly fault: string; readonly at: string }>>;
  /** Rules of an api that decide whether a login succeeds. */
  readonly rules?: { readonly verified_email: boolean; readonly wrong_passwords_a_day: number };
}

/** The last words of each provider on the proof of this process. */
export interface RefusalNotes {
  /** Notes what a request came to; undefined: to what was asked for. */
  note(provider: string, fault: string | undefined): void;
  report(): NonNullable<ReportedSettings['refused_by']>;
}

/** Faults for which a provider refuses this service rather than a person's code or token. */
const ownFaults: readonly unknown[] = ['wrong_client', 'wrong_page', 'other_app'];

/** Creates empty notes. `now` returns milliseconds since the epoch. */
export function createRefusalNotes(now: () => number): RefusalNotes {
  const refusals = new Map<string, { readonly fault: string; readonly at: string }>();
  return {
    note(provider, fault) {
      // A provider that was not reached has said nothing.
      if (fault === 'unavailable') return;
      if (fault === undefined || !ownFaults.includes(fault)) refusals.delete(provider);
      else refusals.set(provider, { fault, at: new Date(now()).toISOString() });
    },
    report: () => Object.fromEntries(refusals),
  };
}

/** The state of a running process, by which an operator finds the one that differs. */
export interface ProcessReport extends ReportedSettings {
  /** Service and host (in Kubernetes the pod), such as `api auth-api-5d9`. */
  readonly process: string;
  /** Version and generation of the build; earlier builds report none. */
  readonly version?: string;
  readonly generation?: number;
  /** Milliseconds by which clocks of the process are ahead of Redis's. */
  readonly ahead_ms: {
    /** The host's clock. */
    readonly host: number;
    /** The clock that dates and judges tokens. */
    readonly tokens: number;
    /** Most that these can be wrong by. */
    readonly within: number;
  };
}

export interface ProcessReporterDeps {
  /** A connection that fails fast. */
  readonly redis: RedisClient;
  readonly keys: Pick<RedisKeys, 'processes' | 'processReport'>;
  readonly service: string;
  readonly build: { readonly version: string; readonly generation: number };
  readonly settings: () => ReportedSettings;
  /** Milliseconds since the epoch, by the clock that dates and judges tokens. */
  readonly now: () => number;
  /** The same by the host's clock. */
  readonly hostNow: () => number;
  /** Called with the milliseconds by which the host's clock is ahead of Redis's. */
  readonly onMeasured: (store: 'redis', aheadMs: number) => void;
}

export interface ProcessReporter {
  /** Writes the report. Never rejects: without Redis there is none. */
  write(): Promise<void>;
  /** Removes the report for good. Never rejects: without Redis it expires. */
  remove(): Promise<void>;
}

/** Milliseconds between two reports, and those after which a process without a report counts as gone. */
export const reportIntervalMs = 20_000;
const keptMs = 3 * reportIntervalMs;

/** Reports on a process. It also writes whenever Redis is there again. */
export function createProcessReporter(deps: ProcessReporterDeps): ProcessReporter {
  const { redis, keys, service, settings, now, hostNow, onMeasured } = deps;
  const { version, generation } = deps.build;
  const host = `${service} ${hostname()}`;
  const name = `${host} ${randomBytes(4).toString('hex')}`;

  async function write(): Promise<void> {
    const [asked, tokensAsked] = [hostNow(), now()];
    const [seconds, microseconds] = await redis.time();
    const within = Math.ceil((hostNow() - asked) / 2);
    const redisMs = Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
    const aheadOf = (at: number) => Math.round(at + within - redisMs);
    const ahead_ms = { host: aheadOf(asked), tokens: aheadOf(tokensAsked), within };
    onMeasured('redis', ahead_ms.host);
    const report: ProcessReport = { process: host, version, generation, ...settings(), ahead_ms };
    await redis
      .multi()
      .psetex(keys.processReport(name), keptMs, JSON.stringify(report))
      .zadd(keys.processes, redisMs, name)
      .zremrangebyscore(keys.processes, '-inf', redisMs - keptMs)
      .exec();
  }

  let writing = Promise.resolve();
  let isGone = false;
  /** Writes one report after the other, because an earlier one must not come after the removal. */
  function writeNext(): Promise<void> {
    writing = writing.then(() => (isGone ? undefined : write().catch(() => undefined)));
    return writing;
  }
  redis.on('ready', writeNext);
  return {
    write: writeNext,
    async remove() {
      isGone = true;
      redis.off('ready', writeNext);
      await writing;
      const remove = redis.multi().del(keys.processReport(name)).zrem(keys.processes, name);
      await remove.exec().catch(() => undefined);
    },
  };
}

/** Returns the reports of all running processes, sorted by process. */
export async function readProcessReports(
  redis: RedisClient,
  keys: ProcessReporterDeps['keys'],
): Promise<ProcessReport[]> {
  const names = (await redis.zrangebyscore(keys.processes, '-inf', '+inf')).toSorted();
  if (names.length === 0) return [];
  const texts = await redis.mget(...names.map(keys.processReport));
  return texts.flatMap((text) => (text === null ? [] : [JSON.parse(text) as ProcessReport]));
}
