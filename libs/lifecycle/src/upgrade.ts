import { setTimeout as delay } from 'node:timers/promises';
import { repeat } from './repeat.ts';
import type { Check } from './run-checks.ts';
import type { Build } from './this-build.ts';

type BuildName = Pick<Build, 'version' | 'generation'>;

/** A process that runs, as it reports itself to Redis. Builds of generation 0 report neither version nor generation. */
export interface RunningProcess {
  /** Service and host, such as `api auth-api-5d9`. */
  readonly process: string;
  readonly version?: string;
  readonly generation?: number;
}

/** Record of a generation in the database. */
export interface UpgradeRecord {
  /** The generation. */
  readonly _id: number;
  /** Version of the first build of this generation. */
  readonly version: string;
  /** Oldest generation that may run on the data from `completed_at` on. */
  readonly needs: number;
  /** Time from which an api of this generation has served. */
  readonly opened_at?: Date;
  /** Time from which no older process has run. */
  readonly completed_at?: Date;
}

/** The records of the generations, as the database has them. */
export interface UpgradeRecords {
  list(): Promise<readonly UpgradeRecord[]>;
  note(build: Build, state: 'opened_at' | 'completed_at'): Promise<void>;
  /** Forgets that apis of later generations have served, because an api of this build serves again. */
  reopen(build: Build): Promise<void>;
}

export interface AdmissionDeps {
  readonly service: 'api' | 'worker';
  readonly build: Build;
  readonly upgrades: UpgradeRecords;
  /** Reads the reports of the running processes; rejects if Redis is away. */
  readonly running: () => Promise<readonly RunningProcess[]>;
  /** `warn` for emergencies: faults are logged, and keep nothing from running. */
  readonly mode: 'enforce' | 'warn';
  readonly logger: { warn(fields: object, text: string): void; error(fields: object, text: string): void };
  /** Milliseconds for which a start waits for older processes while none of them goes. */
  readonly stallMs?: number | undefined;
  /** Milliseconds for which a start waits for Redis to name the running processes. */
  readonly unknownMs?: number | undefined;
  /** Milliseconds between two looks at the records of a process that has started. */
  readonly lookMs?: number | undefined;
}

/** Keeps the order of an upgrade, and keeps a build from data that is too new for it. */
export interface Admission {
  readonly check: Check;
  /**
   * Resolves when the process may work, or when `stop` is aborted. Waits as long as the data needs a newer build. The
   * first processes of a generation also wait for the older processes that must go before, see {@link goBefore}. After
   * that no start depends on any process, or on Redis.
   */
  admit(stop: AbortSignal): Promise<void>;
}

/**
 * Services whose older processes must have gone before a service of a new generation starts: those that read what it
 * writes.
 */
const goBefore = { api: ['push-gateway', 'worker'], worker: ['push-gateway'] } as const;

const defaultStallMs = 600_000;
const defaultLookMs = 60_000;
const defaultUnknownMs = 10_000;
const [pauseMs, unknownPauseMs] = [1_000, 50];

const generationOf = ({ generation = 0 }: RunningProcess) => generation;
const nameOf = (each: RunningProcess) =>
  `${each.process} (version ${each.version ?? 'unknown'}, generation ${generationOf(each)})`;
const namesOf = (list: readonly RunningProcess[]) => list.map(nameOf).join(', ');
const textOf = ({ version, generation }: BuildName) => `version ${version} (generation ${generation})`;

/** Returns why the build may not run on the data, or undefined if it may. */
export function findNewerData(build: BuildName, records: readonly UpgradeRecord[]): string | undefined {
  const newer = records.filter(({ needs, completed_at }) => completed_at !== undefined && needs > build.generation);
  const newest = newer.toSorted((one, other) => other.needs - one.needs)[0];
  if (newest === undefined) return undefined;
  const { version, needs, completed_at } = newest;
  return `${textOf(build)} must not run on data that needs generation ${needs} since ${completed_at?.toISOString()}: run version ${version} or later`;
}

/** Returns why the build may not run beside the running processes, or undefined if it may. */
export function findTooOld(build: Build, running: readonly RunningProcess[]): string | undefined {
  const tooOld = running.filter((each) => generationOf(each) < build.beside);
  if (tooOld.length === 0) return undefined;
  return `${textOf(build)} must not run beside ${namesOf(tooOld)}: first upgrade to a version of generation ${build.beside}, or stop all older processes`;
}

/** Admits a process, or keeps it from running. */
export function createAdmission(deps: AdmissionDeps): Admission {
  const { service, build, upgrades, mode, logger, lookMs = defaultLookMs } = deps;
  let fault: string | undefined;
  /** Sets what keeps the process from running, and logs it if it is new. Returns true if it is new. */
  const judge: Judge = (found) => {
    const isNew = found !== fault;
    if (found !== undefined && isNew) logger.warn({ mode }, found);
    fault = found;
    return isNew;
  };
  const look = createLook(deps, judge);

  return {
    check: {
      name: 'generation',
      run: () => ({ ok: fault === undefined || mode === 'warn', ...(fault !== undefined && { reason: fault }) }),
    },
    async admit(stop) {
      const records = (await awaitData(deps, judge, stop)).filter(({ opened_at }) => opened_at !== undefined);
      const onError = (error: unknown) => logger.warn({ err: error }, 'the generation cannot be noted');
      if (records.some(({ _id }) => _id > build.generation)) {
        // After a rollback. The next upgrade must keep the order again.
        if (service === 'api') await upgrades.reopen(build).catch(onError);
      } else if (!records.some(({ _id }) => _id === build.generation)) {
        await awaitOlder(deps, judge, stop);
        if (service === 'api' && !stop.aborted) await upgrades.note(build, 'opened_at').catch(onError);
      }
      // A failed look is repeated. The requests that need the stores report that these are away.
      repeat(() => look().catch(() => undefined), lookMs, stop);
    },
  };
}

type Judge = (found: string | undefined) => boolean;

/** Waits until the data can be read and allows the build, or `stop` is aborted. */
async function awaitData(deps: AdmissionDeps, judge: Judge, stop: AbortSignal): Promise<readonly UpgradeRecord[]> {
  const { build, upgrades, mode, logger } = deps;
  for (; !stop.aborted; await pause(pauseMs, stop)) {
    try {
      const records = await upgrades.list();
      const found = findNewerData(build, records);
      judge(found);
      if (found === undefined || mode === 'warn') return records;
    } catch (error) {
      logger.warn({ err: error }, 'the generation of the data cannot be read');
    }
  }
  return [];
}

/** Returns the older processes that must go before. Rejects if Redis is away. */
async function findOlder({ service, build, running }: AdmissionDeps): Promise<RunningProcess[]> {
  const before: readonly string[] = goBefore[service];
  return (await running()).filter((each) => generationOf(each) < build.generation && before.includes(serviceOf(each)));
}

/** Returns a line for what a start waits for, its severity once the wait is over, and the longest wait. */
function describeWait(deps: AdmissionDeps, older: readonly RunningProcess[] | undefined) {
  const { service, build, stallMs = defaultStallMs, unknownMs = defaultUnknownMs } = deps;
  const waits = `${textOf(build)} of ${service} waits until`;
  if (older === undefined)
    return { found: `${waits} Redis names the running processes`, limitMs: unknownMs, level: 'warn' } as const;
  return { found: `${waits} these have gone: ${namesOf(older)}`, limitMs: stallMs, level: 'error' } as const;
}

/** Waits until no older process runs that must go before, or none of them goes any more. */
async function awaitOlder(deps: AdmissionDeps, judge: Judge, stop: AbortSignal): Promise<void> {
  const { mode, logger } = deps;
  let since = performance.now();
  while (!stop.aborted) {
    const older = await findOlder(deps).catch(() => undefined);
    if (older?.length === 0) break;
    const { found, limitMs, level } = describeWait(deps, older);
    if (judge(found)) since = performance.now();
    if (mode === 'warn' || performance.now() - since >= limitMs) {
      logger[level]({ mode }, `goes on all the same: ${found}`);
      break;
    }
    await pause(older ? pauseMs : unknownPauseMs, stop);
  }
  judge(undefined);
}

/**
 * Looks at the records: whether they still allow the build. Notes the upgrade as complete after two looks at which no
 * older process ran, because a process has no report for some seconds after Redis was emptied.
 */
function createLook({ build, upgrades, running }: AdmissionDeps, judge: Judge): () => Promise<void> {
  let looksWithoutOlder = 0;
  return async () => {
    const records = await upgrades.list();
    judge(findNewerData(build, records));
    if (records.some(({ _id, completed_at }) => _id === build.generation && completed_at !== undefined)) return;
    const all = await running();
    const isOlder = (each: RunningProcess) => generationOf(each) < build.generation;
    looksWithoutOlder = all.length === 0 || all.some(isOlder) ? 0 : looksWithoutOlder + 1;
    if (looksWithoutOlder >= 2) await upgrades.note(build, 'completed_at');
  };
}

function serviceOf({ process }: RunningProcess): string {
  return process.split(' ', 1)[0] ?? '';
}

/** Waits, but no longer than until `stop` is aborted. */
async function pause(ms: number, stop: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal: stop }).catch(() => undefined);
}
