import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type ServiceName, waitUntil } from '@auth-account/local-stack';
import { createRandom } from '../../model/simulate-refresh.ts';
import { sleepAwake } from '../../support/stopwatch.ts';
import { bundleAll } from '../bundle-all.ts';
import { checkAccounts } from './invariants/check-accounts.ts';
import { checkEnded, closeWithinMs, findEnded } from './invariants/check-ended-sessions.ts';
import { checkLogins } from './invariants/check-logins.ts';
import { checkStores } from './invariants/check-stores.ts';
import { checkSubscribers } from './invariants/check-subscribers.ts';
import { readEvidence, waitForDelivery, waitForErasures } from './invariants/evidence.ts';
import { type FaultKind, faultSequence } from './kinds/fault.ts';
import { linkFaults, serviceFaults } from './kinds/process-faults.ts';
import { mongoFaults, redisFaults } from './kinds/store-faults.ts';
import { createWorld, settle } from './load/app.ts';
import { createHistory, type History } from './load/history.ts';
import { refresh } from './load/sessions.ts';
import { type Load, startLoad } from './load/start-load.ts';
import { printReport } from './print-report.ts';
import { checkSdkUsers } from './sdk/check-sdk-users.ts';
import { sumFigures } from './sdk/sdk-user.ts';
import { type SdkUsers, startSdkUsers } from './sdk/start-sdk-users.ts';
import type { SignInWorld } from './sign-in/sign-in-user.ts';
import { type SignInUsers, startSignInUsers } from './sign-in/start-sign-in-users.ts';
import { type FaultStack, startFaultStack } from './stack/start-fault-stack.ts';

/**
 * `npm run faults` (docs/testing.md, "Faults") runs the real services, a MongoDB replica set of three and Redis on
 * loopback under a steady load, while one fault follows another. The load's apps remember their answers. Prints each
 * fault with its effect, then the tables, and exits with 1 if a promise was not kept. After a signal the fault under way
 * is the last one, and everything until then is still checked.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '15' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    rate: { type: 'string', default: '50' },
    population: { type: 'string', default: '150' },
    'lock-seconds': { type: 'string', default: '60' },
    faults: { type: 'string', default: 'Infinity' },
    only: { type: 'string', default: '' },
  },
});
const [seed, seconds] = [Number(values.seed), Number(values.minutes) * 60];
const lockSeconds = Number(values['lock-seconds']);
const logDir = fileURLToPath(new URL(`../../../reports/faults-${seed}`, import.meta.url));
const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // The handler stays, because npm forwards a signal that its child has already received.
  process.on(signal, () => {
    if (ending.signal.aborted) return;
    console.error(`${signal}: the fault under way is the last one; what there is until then is checked and reported`);
    ending.abort();
  });
}

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

/** Everything of one run. */
interface Run {
  readonly stack: FaultStack;
  readonly world: SignInWorld;
  readonly load: Load;
  readonly sdk: SdkUsers;
  readonly signIn: SignInUsers;
}

export type Report = Awaited<ReturnType<typeof runFaults>>;

/** Runs the system under load and faults, and compares the apps' answers with the stores. */
async function runFaults() {
  const begun = performance.now();
  console.log(`seed ${seed}: starting MongoDB (3 members), Redis, and two processes of each service`);
  const stack = await startFaultStack({ logDir, lockSeconds });
  const history = createHistory(join(logDir, 'history.jsonl'));
  const world = await createSignInWorld(stack, history);
  const [rate, population] = [Number(values.rate), Number(values.population)];
  history.note('begin', { seed, seconds, rate });
  const load = startLoad(world, { seed, rate, population });
  const sdk = startSdkUsers(world, seed);
  let signIn: SignInUsers | undefined;
  try {
    signIn = await startSignInUsers(world, seed);
    const run = { stack, world, load, sdk, signIn };
    await sleep(warmUpMs);
    const faults = await breakThings(run);
    await Promise.all([load.finish(lockSeconds * 1_000 + patienceMs), sdk.finish(), signIn.finish()]);
    const repeatedDeliveries = await checkAll(run, faults);
    const tookSeconds = Math.round((performance.now() - begun) / 1_000);
    const { violations } = history;
    const figures = { operations: history.totals, users: sdk.users.length, sdk: sumFigures(sdk.users) };
    const report = { seed, seconds: tookSeconds, faults, ...figures, repeatedDeliveries, violations };
    await writeFile(join(logDir, 'report.json'), JSON.stringify(report, undefined, 2));
    printReport(history, report);
    return report;
  } finally {
    load.close();
    sdk.close();
    signIn?.close();
    await stack.close();
    await history.close();
  }
}

async function createSignInWorld(stack: FaultStack, history: History): Promise<SignInWorld> {
  const { services, redisClient, mailbox, provider } = stack;
  const urlsOf = (scheme: string, name: ServiceName) =>
    services.flatMap(({ service, front }) =>
      service === name && front ? [`${scheme}://127.0.0.1:${front.port}`] : [],
    );
  const [apis, gateways] = [urlsOf('http', 'api'), urlsOf('ws', 'push-gateway')];
  return {
    ...(await createWorld({ history, mailbox, apis, gateways })),
    provider,
    redisAge: 0,
    async forgetTries() {
      const names = await redisClient.keys('*:limit:second-factor:*').catch(() => []);
      if (names.length > 0) await redisClient.unlink(names).catch(() => undefined);
    },
    async insured() {
      const processes = services.filter(({ service }) => service === 'api');
      const counts = await Promise.all(processes.map((api) => api.countOf('auth_login_limits_insured_total')));
      return counts.reduce((sum, count) => (sum === undefined || count === undefined ? undefined : sum + count), 0);
    },
  };
}

/** Runs the faults one after another, each when everything has recovered from the last. */
async function breakThings(run: Run): Promise<FaultRecord[]> {
  const only = new RegExp(values.only, 'i');
  const { history } = run.world;
  const random = createRandom(seed);
  const kinds = [...mongoFaults, ...redisFaults, ...serviceFaults, ...linkFaults].filter(({ name, findObstacle }) => {
    const obstacle = findObstacle?.(run.stack);
    if (obstacle !== undefined) console.log(`left out: ${name} (${obstacle})`);
    return obstacle === undefined && only.test(name);
  });
  if (kinds.length === 0) throw new Error(`no kind of fault that can be done here is named ${only}`);
  const until = history.now() + seconds * 1_000;
  const faults: FaultRecord[] = [];
  for (const kind of faultSequence(kinds, random)) {
    const fault = await breakOnce(kind, run, random);
    faults.push(fault);
    console.log(
      `${(history.now() / 1_000).toFixed(0).padStart(5)} s  ${fault.name} (${fault.detail}): no write for ` +
        `${fault.writeGap} ms, no read for ${fault.readGap} ms, ready after ${fault.readyAfter} ms; ` +
        `${history.totals.acknowledged} acknowledged, ${history.violations.length} violations`,
    );
    if (history.now() > until || faults.length >= Number(values.faults) || ending.signal.aborted) break;
    await lookAtEnded(run);
  }
  return faults;
}

/** Checks that the promises of a logout and of a change of group hold 5 s after all services could communicate. */
async function lookAtEnded({ stack, world }: Run): Promise<void> {
  const ended = await findEnded(world, stack.collections);
  await sleepAwake(closeWithinMs);
  await checkEnded(world, ended);
}

type FaultRecord = Awaited<ReturnType<typeof breakOnce>>;

/** Causes a fault, and returns its effect. */
async function breakOnce(kind: FaultKind, { stack, world }: Run, random: () => number) {
  const { history } = world;
  const { name } = kind;
  const [shortest, longest] = kind.holdMs;
  const hold = shortest + random() * (longest - shortest);
  const from = history.now();
  const aging = name === 'Redis emptied' ? 1 : 0;
  world.redisAge += aging;
  const { detail, fix } = await kind.inject(stack, random);
  world.redisAge += aging;
  const report = (error: Error) => history.violate(error.message, { name, detail });
  history.note('broken', { name, detail });
  await sleep(hold);
  try {
    await fix?.();
  } catch (error) {
    report(error as Error);
  }
  const fixed = history.now();
  history.note('repaired', { name, detail });
  const complaint = await settle(recoveryMs, stack.findComplaint);
  if (complaint !== undefined) history.violate('the parts did not recover', { complaint });
  const to = history.now();
  history.note('ready', { name, detail });
  // A gap ends with the first success after everything was ready.
  const hasGoneOn = async () => history.lastSuccess('write') >= to && history.lastSuccess('read') >= to;
  const options = { what: 'A write and a read that succeed', timeoutMs: recoveryMs, intervalMs: 100 };
  await waitUntil(hasGoneOn, options).catch(report);
  return {
    ...{ name, detail },
    /** Milliseconds of the longest times without a success, and from the repair until all services were ready. */
    writeGap: history.maxGap('write', from, to),
    readGap: history.maxGap('read', from, to),
    readyAfter: to - fixed,
  };
}

/** Makes all comparisons, and returns the number of repeated deliveries. */
async function checkAll(run: Run, faults: readonly FaultRecord[]): Promise<number> {
  const { stack, world, load, sdk, signIn } = run;
  const { history, ledger } = world;
  const { collections, subscribers } = stack;
  for (const person of load.people) {
    for (const device of person.devices) {
      if (device.session?.state === 'live') await refresh({ world, person, device });
    }
  }
  await lookAtEnded(run);
  await checkSdkUsers({ users: sdk.users, history, collections, patienceMs: sdkPatienceMs });
  await signIn.check(collections, faults);
  await waitForErasures(collections, history);
  await waitForDelivery(collections, history);
  const evidence = await readEvidence({ ledger, history, collections, subscribers });
  await checkStores(evidence);
  await checkAccounts(evidence);
  const repeated = checkSubscribers(evidence);
  await checkLogins(world);
  return repeated;
}

if (process.env.BUNDLES === '1') await bundleAll();
const { violations, faults } = await runFaults();
if (ending.signal.aborted) console.log(`Broken off after ${faults.length} faults; the figures are those so far`);
process.exitCode = violations.length === 0 && !ending.signal.aborted ? 0 : 1;
