import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '@auth-account/local-stack';
import { createRandom } from '../../model/simulate-refresh.ts';
import { sleepAwake } from '../../support/stopwatch.ts';
import { checkAccounts } from './invariants/check-accounts.ts';
import { checkEnded, closeWithinMs, findEnded } from './invariants/check-ended-sessions.ts';
import { checkLogins } from './invariants/check-logins.ts';
import { checkStores } from './invariants/check-stores.ts';
import { checkSubscribers, waitForDelivery } from './invariants/check-subscribers.ts';
import { readFacts } from './invariants/facts.ts';
import { waitForErasures } from './invariants/wait-for-erasures.ts';
import type { FaultKind } from './kinds/fault.ts';
import { faultSequence, possibleFaults } from './kinds/fault-sequence.ts';
import type { World } from './load/app.ts';
import { createHistory, type History } from './load/history.ts';
import { createLedger } from './load/ledger.ts';
import { refresh } from './load/sessions.ts';
import { type Load, startLoad } from './load/start-load.ts';
import { type FaultRecord, printReport, type Report, sumOperations } from './report/print-report.ts';
import { checkSdkUsers } from './sdk/check-sdk-users.ts';
import { reportOn } from './sdk/sdk-report.ts';
import { type SdkUsers, startSdkUsers } from './sdk/start-sdk-users.ts';
import { watchRejections } from './sdk/watch-rejections.ts';
import { checkSignInUsers } from './sign-in/check-sign-in-users.ts';
import type { SignInWorld } from './sign-in/sign-in-user.ts';
import { type SignInUsers, startSignInUsers } from './sign-in/start-sign-in-users.ts';
import { type FaultStack, startFaultStack } from './stack/start-fault-stack.ts';

export interface RunOptions {
  readonly seed: number;
  /** Seconds for which faults happen. */
  readonly seconds: number;
  /** Number of actions that apps start per second. */
  readonly rate: number;
  /**
   * The most active users. In an outage each repeats a request every few seconds, so this bounds the load.
   */
  readonly population: number;
  /** Seconds for which a process that is killed within a transaction leaves its locks. MongoDB's default is 60. */
  readonly lockSeconds: number;
  /** Maximum number of faults. */
  readonly maxFaults: number;
  /** Pattern for the names of kinds of fault. Only matching kinds happen. */
  readonly only: RegExp;
  readonly mayInstall: boolean;
  /** Directory of the history, the report and the services' logs. */
  readonly reportDir: string;
  readonly log: (line: string) => void;
  /** Ends the faults early. Everything until then is still checked. */
  readonly signal?: AbortSignal;
}

const accessTokenSeconds = 120;
/** Number of users whose apps use the client. */
const sdkPopulation = 24;
const warmUpMs = 3_000;
/** Milliseconds after the last repair within which all services must be ready again. */
const recoveryMs = 120_000;
/**
 * Milliseconds at the end in which apps still repeat requests without an answer, beyond the time of the locks of a
 * killed process.
 */
const patienceMs = 20_000;
/**
 * Milliseconds after that in which users of the client must be able to work again, which exceeds their time-outs and
 * pauses.
 */
const sdkPatienceMs = 90_000;

/** Runs the system under load and faults, and compares the apps' answers with the stores. */
export async function runFaults(options: RunOptions): Promise<Report> {
  const { seed, reportDir, log } = options;
  const begun = performance.now();
  log(`seed ${seed}: starting MongoDB (3 members), Redis, and two processes of each service`);
  const { mayInstall, lockSeconds, population } = options;
  const stack = await startFaultStack({ logDir: reportDir, mayInstall, accessTokenSeconds, lockSeconds, log });
  const history = createHistory(join(reportDir, 'history.jsonl'));
  const world = createWorld(stack, history, seed);
  history.note('begin', { seed, seconds: options.seconds, rate: options.rate });
  const load = startLoad({ world, seed, rate: options.rate, population });
  const sdk = startSdkUsers({ world, seed, count: sdkPopulation });
  const endWatch = watchRejections(history);
  let signInMethods: SignInUsers | undefined;
  try {
    signInMethods = await startSignInUsers(world, seed);
    await sleep(warmUpMs);
    const faults = await breakThings(stack, world, options);
    await Promise.all([load.finish(lockSeconds * 1_000 + patienceMs), sdk.finish(), signInMethods.finish()]);
    const repeatedDeliveries = await checkAll(stack, world, { load, sdk, signInMethods, faults });
    const seconds = Math.round((performance.now() - begun) / 1_000);
    const kills = faults.filter(({ isKill }) => isKill).length;
    const operations = sumOperations(history);
    const counts = { kills, operations, repeatedDeliveries, violations: history.violations.length };
    const report = { seed, seconds, faults, sdk: reportOn(sdk.users), ...counts };
    const text = JSON.stringify({ ...report, found: history.violations }, undefined, 2);
    await writeFile(join(reportDir, 'report.json'), text);
    printReport(history, report);
    return report;
  } finally {
    load.close();
    sdk.close();
    signInMethods?.close();
    endWatch();
    await stack.close();
    await history.close();
  }
}

function createWorld(
  { services, redisClient, mailbox, provider }: FaultStack,
  history: History,
  seed: number,
): SignInWorld {
  const portsOf = (name: string) =>
    services.flatMap(({ service, front }) => (service === name && front !== undefined ? [front.port] : []));
  let requests = 0;
  return {
    history,
    ledger: createLedger(),
    apiPorts: portsOf('api'),
    gatewayPorts: portsOf('push-gateway'),
    mailbox,
    provider,
    redisAge: 0,
    async forgetTries() {
      const names = await redisClient.keys('*:limit:second-factor:*').catch(() => []);
      if (names.length > 0) await redisClient.unlink(names).catch(() => undefined);
    },
    async insured() {
      const apis = services.filter(({ service }) => service === 'api');
      const counts = await Promise.all(apis.map((api) => api.countOf('auth_login_limits_insured_total')));
      return counts.reduce((sum, count) => (sum === undefined || count === undefined ? undefined : sum + count), 0);
    },
    nextRequestId() {
      requests += 1;
      return `faults-${seed}-${requests}`;
    },
  };
}

/** Runs the faults one after another, each when everything has recovered from the last. */
async function breakThings(stack: FaultStack, world: SignInWorld, options: RunOptions): Promise<FaultRecord[]> {
  const { seed, seconds, maxFaults, only, log } = options;
  const { history } = world;
  const random = createRandom(seed);
  const possible = possibleFaults(stack, (name, why) => log(`left out: ${name} (${why})`));
  const kinds = possible.filter(({ name }) => only.test(name));
  if (kinds.length === 0) throw new Error(`no kind of fault that can be done here is named ${only}`);
  const until = history.now() + seconds * 1_000;
  const faults: FaultRecord[] = [];
  for (const kind of faultSequence(kinds, random)) {
    const fault = await breakOnce(kind, stack, world, random);
    faults.push(fault);
    log(
      `${(history.now() / 1_000).toFixed(0).padStart(5)} s  ${fault.name} (${fault.detail}): no write for ` +
        `${fault.writeGap} ms, no read for ${fault.readGap} ms, ready after ${fault.readyAfter} ms; ` +
        `${sumOperations(history).acknowledged} acknowledged, ${history.violations.length} violations`,
    );
    if (history.now() > until || faults.length >= maxFaults || options.signal?.aborted) break;
    await lookAtEnded(stack, world);
  }
  return faults;
}

/** Checks that the promises of a logout and of a change of group hold 5 s after all services could communicate. */
async function lookAtEnded({ collections }: FaultStack, world: World): Promise<void> {
  const ended = await findEnded(world, collections);
  await sleepAwake(closeWithinMs);
  await checkEnded(world, ended);
}

async function breakOnce(
  kind: FaultKind,
  stack: FaultStack,
  world: SignInWorld,
  random: () => number,
): Promise<FaultRecord> {
  const { history } = world;
  const { name, isKill } = kind;
  const [shortest, longest] = kind.holdMs;
  const hold = shortest + random() * (longest - shortest);
  const from = history.now();
  const aging = name === 'Redis emptied' ? 1 : 0;
  world.redisAge += aging;
  const { detail, fix } = await kind.inject(stack, random);
  world.redisAge += aging;
  history.note('broken', { name, detail });
  await sleep(hold);
  await fix().catch((error: Error) => history.violate(error.message, { name, detail }));
  const fixed = history.now();
  history.note('repaired', { name, detail });
  await awaitParts(stack, history);
  const to = history.now();
  history.note('ready', { name, detail });
  // A gap ends with the first success after everything was ready.
  const hasGoneOn = async () => history.lastSuccess('write') >= to && history.lastSuccess('read') >= to;
  const options = { what: 'A write and a read that succeed', timeoutMs: recoveryMs, intervalMs: 100 };
  await waitUntil(hasGoneOn, options).catch((error: Error) => history.violate(error.message, { name, detail }));
  const gaps = { writeGap: history.maxGap('write', from, to), readGap: history.maxGap('read', from, to) };
  return { name, detail, isKill, ...gaps, readyAfter: to - fixed };
}

async function awaitParts(stack: FaultStack, history: History): Promise<void> {
  let complaint: string | undefined;
  const isReady = async () => {
    complaint = await stack.findComplaint();
    return complaint === undefined;
  };
  const options = { what: 'All parts ready', timeoutMs: recoveryMs, intervalMs: 100 };
  await waitUntil(isReady, options).catch(() => history.violate('the parts did not recover', { complaint }));
}

interface Run {
  readonly load: Load;
  readonly sdk: SdkUsers;
  readonly signInMethods: SignInUsers;
  readonly faults: readonly FaultRecord[];
}

async function checkAll(stack: FaultStack, world: World, { load, sdk, signInMethods, faults }: Run): Promise<number> {
  const { history, ledger } = world;
  const { users } = sdk;
  for (const person of load.people) {
    for (const device of person.devices) {
      if (device.session?.state === 'live') await refresh({ world, person, device });
    }
  }
  await lookAtEnded(stack, world);
  await checkSdkUsers({ users, history, collections: stack.collections, patienceMs: sdkPatienceMs });
  await checkSignInUsers(signInMethods, stack.collections, faults);
  await waitForErasures(stack.collections, history);
  await waitForDelivery(stack, history);
  const { collections, subscribers } = stack;
  const facts = await readFacts(collections);
  await checkStores(ledger, history, collections, facts);
  await checkAccounts({ ledger, history, collections, facts, subscribers });
  const repeated = checkSubscribers(subscribers, ledger, history, facts);
  await checkLogins(world);
  return repeated;
}
