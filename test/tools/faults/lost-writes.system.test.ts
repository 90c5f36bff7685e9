import { waitUntil } from '@auth-account/local-stack';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Db } from 'mongodb';
import { createRandom } from '../../model/simulate-refresh.ts';
import { openTokenFixture, type TokenFixture } from '../../support/api/token-api.ts';
import { type GuardedFolder, openGuardedFolder } from '../../support/processes/guarded-folder.ts';
import { checkAccounts } from './invariants/check-accounts.ts';
import { checkStores } from './invariants/check-stores.ts';
import { readEvidence } from './invariants/evidence.ts';
import { stopOthers } from './kinds/store-faults.ts';
import { type App, createApp, createWorld, type World } from './load/app.ts';
import { endAppConnections } from './load/app-request.ts';
import { changePassword } from './load/credential-changes.ts';
import { orderDeletion, restore } from './load/deletions.ts';
import { createHistory } from './load/history.ts';
import { logIn, logInAgain, logOut, logOutAll, refresh } from './load/sessions.ts';
import { createInvite, move, register } from './load/spaces.ts';
import { onMember, type ReplicaSet, startReplicaSet } from './stack/replica-set.ts';

let folder: GuardedFolder;
let replicaSet: ReplicaSet;
let fixture: TokenFixture;
let world: World;
/** Numbers of attempts without a final answer, by user. */
const unanswered = new Map<number | string, number>();
/** Kinds of requests that were answered as done. */
const acknowledged: string[] = [];

beforeAll(async () => {
  folder = await openGuardedFolder('lost-writes');
  const { dir, watch: onSpawn } = folder;
  replicaSet = await startReplicaSet({ dir, logDir: dir, onSpawn, lockSeconds: 60 });
  const { uri } = replicaSet.mongo;
  fixture = await openTokenFixture({ mongodbUri: uri });
  // The driver gives up a commit soon, so that retries come soon, but a read that waits for the majority has enough
  // time.
  const env = { ACCOUNT_DELETION_GRACE_DAYS: '14', MONGODB_URI: `${uri}&socketTimeoutMS=5000` };
  const apis = [await fixture.start(env), await fixture.start(env)];
  const history = createHistory();
  world = await createWorld({
    history: {
      ...history,
      record(operation) {
        history.record(operation);
        const { person, outcome, kind } = operation;
        if (outcome === 'acknowledged') acknowledged.push(kind);
        if (outcome === 'unknown') unanswered.set(person, (unanswered.get(person) ?? 0) + 1);
      },
    },
    apis: apis.map(({ base }) => base),
  });
});
afterAll(async () => {
  if (world !== undefined) world.isOver = true;
  endAppConnections();
  await fixture?.close();
  await world?.history.close();
  await replicaSet?.close();
  await folder?.close();
});

/** A timeout that is longer than a first request waits for its 503, and short: a login waits until its app gives up. */
const timeoutMs = 12_000;

/** Registers the user and logs in. */
async function begin(app: App): Promise<void> {
  await register(world, app.person);
  await logIn(app);
}

type Step = readonly [name: string, run: (app: App) => Promise<unknown>, prepare: (app: App) => Promise<unknown>];

/** Requests that are under way or repeated when the primary dies, each of a different user. */
const steps: readonly Step[] = [
  ['a registration', ({ person }) => register(world, person), async () => undefined],
  ['a login', logIn, ({ person }) => register(world, person)],
  ['a login on the same device', logInAgain, begin],
  ['a refresh', refresh, begin],
  ['a logout', logOut, begin],
  ['a logout of all', logOutAll, begin],
  ['a change of the password', changePassword, begin],
  ['an order of the deletion', orderDeletion, begin],
  ['a restore', restore, (app) => begin(app).then(() => orderDeletion(app))],
  ['an invite', createInvite, begin],
  ['a move', move, begin],
];

/** Returns true if a retry waits at the primary for the majority. After a refusal it goes on at the next primary. */
async function isConfirming(primary: number): Promise<boolean> {
  const reading = { 'command.find': 'idempotency', 'command.readConcern.level': 'linearizable' };
  const look = (admin: Db) => admin.aggregate([{ $currentOp: {} }, { $match: reading }]).toArray();
  return (await onMember(replicaSet.mongo.ports[primary], look)).length > 0;
}

// guarantees: idempotency-key
test('no acknowledged change is lost with a primary whose last writes no other member had', async () => {
  const { mongo, findPrimary } = replicaSet;
  const primary = await findPrimary();
  const apps = steps.map((_, index) => createApp(world, index, { random: createRandom(index), timeoutMs }));
  await Promise.all(steps.map(([, , prepare], index) => prepare(apps[index] as App)));
  unanswered.clear();
  acknowledged.splice(0);
  const goOn = await stopOthers(mongo, primary);
  const ended = new Set<number>();
  const running = steps.map(([, run], index) => run(apps[index] as App).finally(() => ended.add(index)));
  const isRepeated = (index: number) => ended.has(index) || (unanswered.get(index) ?? 0) >= 2;
  const hasComeFar = async () => steps.every((_, index) => isRepeated(index)) && (await isConfirming(primary));
  await waitUntil(hasComeFar, { what: 'a retry of each request', timeoutMs: 240_000, intervalMs: 20 });
  const done = acknowledged.splice(0);
  await mongo.kill('SIGKILL', primary);
  await goOn();
  await Promise.all(running);
  const { ledger, history } = world;
  const { collections } = fixture;
  const evidence = await readEvidence({ ledger, history, collections, subscribers: [] });
  await checkStores(evidence);
  await checkAccounts(evidence);
  expect(history.violations).toEqual([]);
  expect(done).toEqual([]);
}, 480_000);
