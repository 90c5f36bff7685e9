import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Document } from 'mongodb';
import { newSession } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { requestReset } from '../../support/api/codes.ts';
import { expectSound, insertInvite, joinByInvite } from '../../support/api/groups.ts';
import { startWorkerProcess } from '../../support/processes/service-process.ts';
import { type FailCommand, withFailPoint } from '../../support/stores/fail-point.ts';
import { uniqueName } from '../../support/test-environment.ts';
import {
  type ErasureFixture,
  endErasureLease,
  openErasureFixture,
  orderDeletion,
  storedOf,
} from '../../support/worker/erasure-fixture.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';
import { startTestWorker } from '../../support/worker/worker-service.ts';

const appName = uniqueName();
let fixture: ErasureFixture;
beforeAll(async () => {
  fixture = await openErasureFixture(appName);
});
afterAll(() => fixture.close());

/** Creates an owner with another member, an invite, a code and an answer under a key. The owner's deletion is due. */
async function newOwner() {
  const { api } = fixture;
  const owner = await newSession(api);
  await joinByInvite(api, await insertInvite(api, owner.home_group_id));
  await api.createInvite({}, { ...bearer(owner), 'Idempotency-Key': randomUUID() });
  await requestReset(api, owner.email);
  await orderDeletion(api, owner);
  return owner;
}

type Owner = Awaited<ReturnType<typeof newOwner>>;

const state = ({ user_id, home_group_id }: Owner) => storedOf(fixture.api, user_id, home_group_id);
const deletedEvents = ({ user_id }: Owner) =>
  fixture.api.collections.outbox.countDocuments({ 'event.subject': user_id, topic: 'service.auth.events.deleted' });

async function expectGone(owner: Owner): Promise<void> {
  const { user, others } = await state(owner);
  const [groups, sessions, challenges, records, invites] = others;
  expect([user, sessions, challenges, records]).toEqual([null, [], [], []]);
  expect(groups).toEqual([expect.objectContaining({ member_count: 1, closed_at: null })]);
  for (const invite of invites ?? []) expect(invite).toMatchObject({ created_by: null, revoked_at: null });
  expect(await deletedEvents(owner)).toBe(1);
  await expectSound(fixture.api);
}

/** Lets a worker erase the account, as if the former worker's lease had ended. */
async function eraseNow(owner: Owner): Promise<void> {
  await endErasureLease(fixture.api, owner.user_id);
  const worker = await startTestWorker(fixture.env);
  try {
    await eventually('it is gone', async () => (await state(owner)).user === null);
  } finally {
    await worker.close();
  }
  await expectGone(owner);
}

/** Every command of the erasure's transaction, in order. */
const steps: readonly [step: string, command: string, collection?: keyof ErasureFixture['api']['collections']][] = [
  ['the removal of the user', 'findAndModify', 'users'],
  ['the removal of the sessions', 'delete', 'sessions'],
  ['the removal of the challenges', 'delete', 'challenges'],
  ['the removal of the records', 'delete', 'idempotency'],
  ['the invites', 'update', 'invites'],
  ['the count of members', 'findAndModify', 'groups'],
  ['the heir', 'findAndModify', 'users'],
  ['the new owner', 'update', 'groups'],
  ['the event', 'insert', 'outbox'],
  ['the commit', 'commitTransaction'],
];

function failing([, command, collection]: (typeof steps)[number], fault: Partial<FailCommand>): FailCommand {
  const { api } = fixture;
  const namespace = collection && `${api.database}.${api.collections[collection].collectionName}`;
  return { failCommands: [command], ...(namespace && { namespace }), appName, ...fault };
}

/**
 * Returns which of the matching commands fail. The first such command on users is the lease, the second removes the
 * user.
 */
function modeOf([step]: (typeof steps)[number]) {
  if (step === 'the heir') return { skip: 2 };
  return step === 'the removal of the user' ? { skip: 1 } : 'alwaysOn';
}

describe('failures of an erasure’s steps', () => {
  const operationFailed = 96;
  // A failed commit leaves its transaction open, with its locks, for the minute that MongoDB gives it.
  const beforeCommit = steps.filter(([step]) => step !== 'the commit');

  // guarantees: erasure-once
  test.each(beforeCommit)('a failure of a step leaves the account whole: %s', async (...step) => {
    const owner = await newOwner();
    const before = await state(owner);
    const worker = await withFailPoint(
      fixture.api.mongo,
      modeOf(step),
      failing(step, { errorCode: operationFailed }),
      async () => {
        const started = await startTestWorker(fixture.env);
        const failed = () => started.metric('auth_erasures_total', { outcome: 'failed' });
        await eventually('the erasure has failed', async () => (await failed()) > 0);
        return started;
      },
    );
    expect(await state(owner)).toEqual(before);
    expect(await deletedEvents(owner)).toBe(0);
    await worker.close();
    await eraseNow(owner);
  });
});

// guarantees: erasure-once
test('a commit whose result MongoDB never reports has erased the account once', async () => {
  const owner = await newOwner();
  const shutdownInProgress = 91;
  const unknown = failing(['', 'commitTransaction'], {
    writeConcernError: { code: shutdownInProgress, errmsg: 'shutting down' },
  });
  await withFailPoint(fixture.api.mongo, 'alwaysOn', unknown, async () => {
    const worker = await startTestWorker(fixture.env);
    await eventually('it is erased', async () => (await worker.metric('auth_erasures_total')) > 0);
    expect(await worker.metric('auth_erasures_total', { outcome: 'failed' })).toBe(0);
    await worker.close();
  });
  await expectGone(owner);
});

/** Returns the running command of this test's workers that the fail point holds back. */
async function heldCommand(command: string): Promise<Document | undefined> {
  const operations = await fixture.api.mongo
    .db('admin')
    .aggregate([{ $currentOp: { allUsers: true } }, { $match: { appName, [`command.${command}`]: { $exists: true } } }])
    .toArray();
  return operations.find((operation) => operation.transaction !== undefined || operation.command.autocommit === false);
}

/** The long form (`npm run test:long erasure`) kills a worker before each step. */
const killed = process.env.ERASURE_KILLS === 'all' ? steps : steps.filter((_, index) => index % 4 === 1);

describe('kills before an erasure’s steps', () => {
  // guarantees: erasure-once
  test.each(killed)('a worker that is killed before a step leaves the account whole: %s', async (...step) => {
    const owner = await newOwner();
    const before = await state(owner);
    const { mongo } = fixture.api;
    const blocked = failing(step, { blockConnection: true, blockTimeMS: 120_000 });
    await withFailPoint(mongo, modeOf(step), blocked, async () => {
      const worker = await startWorkerProcess(fixture.env);
      let held: Document | undefined;
      await eventually('the step is reached', async () => {
        held = await heldCommand(step[1]);
        return held !== undefined;
      });
      await worker.end('SIGKILL');
      // The server would end a dead client's transaction after a minute. Here the test ends it at once.
      await mongo.db('admin').command({ killSessions: [{ id: held?.lsid.id }] });
    });
    expect(await state(owner)).toEqual(before);
    expect(await deletedEvents(owner)).toBe(0);
    await eraseNow(owner);
  });
});
