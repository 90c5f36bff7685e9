import { randomUUID } from 'node:crypto';
import { collectionsOf, createStores, ensureIndexes } from '@auth-account/stores';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type CommandStartedEvent, type Db, type Document, MongoClient } from 'mongodb';
import { serviceEnvironment, uniqueName } from '../../support/test-api.ts';
import { commitEvent, longAgo, newEvent } from '../../support/worker-events.ts';

let mongo: MongoClient;
let db: Db;

beforeAll(async () => {
  const name = uniqueName();
  mongo = new MongoClient(serviceEnvironment(name).MONGODB_URI ?? '', { monitorCommands: true });
  db = mongo.db(name);
  await ensureIndexes(db);
  for (let i = 0; i < 20; i++) await commitEvent(mongo, db, newEvent(), longAgo());
});

afterAll(async () => {
  await db.dropDatabase();
  await mongo.close();
});

/** Returns how the server finds the documents of each command that the work sends. */
async function plansOf(work: () => Promise<unknown>): Promise<Set<string>> {
  const commands: Document[] = [];
  const keep = ({ command, commandName }: CommandStartedEvent) => {
    if (['find', 'aggregate', 'distinct', 'update', 'delete', 'findAndModify'].includes(commandName))
      commands.push(command);
  };
  mongo.on('commandStarted', keep);
  await work().finally(() => mongo.off('commandStarted', keep));
  expect(commands.length).toBeGreaterThan(0);
  const stages = new Set<string>();
  for (const command of commands) {
    for (const one of explainable(command)) collectStages(await db.command({ explain: one }), stages);
  }
  return stages;
}

/** Removes the fields that belong to the session, and splits a bulk write into its statements. */
function explainable(command: Document): Document[] {
  const { lsid, txnNumber, startTransaction, autocommit, readConcern, writeConcern, $clusterTime, $db, ...bare } =
    command;
  const { updates, deletes } = bare;
  if (updates) return updates.map((update: Document) => ({ ...bare, updates: [update] }));
  return deletes ? deletes.map((one: Document) => ({ ...bare, deletes: [one] })) : [bare];
}

function collectStages(value: unknown, stages: Set<string>): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (key === 'rejectedPlans') continue;
    if (key === 'stage' && typeof inner === 'string') stages.add(inner);
    else collectStages(inner, stages);
  }
}

const at = new Date();
const since = new Date(at.getTime() - 3_600_000);

function stores() {
  const { outbox, deadLetters: letters, replay } = createStores(collectionsOf(db));
  return { outbox, letters, replay };
}

const works: [string, (event: ReturnType<typeof newEvent>) => Promise<unknown>][] = [
  ['the claim', () => stores().outbox.claim({ lease: randomUUID(), now: at, limit: 5 })],
  [
    'the claim of held rows',
    () => stores().outbox.claimHeld({ lease: randomUUID(), now: at, limit: 5, opened: ['a'] }),
  ],
  ['the look at held rows', () => stores().outbox.claimHeld({ lease: randomUUID(), now: at, limit: 5, opened: [] })],
  ['the hold', ({ id }) => stores().outbox.hold([{ row: { _id: id, lease: 'l' }, for: ['a'], isAll: true }], at)],
  ['the end of the leases', () => stores().outbox.release(at)],
  ['the count of what waits', () => stores().outbox.backlog(1_000)],
  ['the look for a request', ({ requestid }) => stores().outbox.findByRequest(requestid)],
  ['the list', () => stores().outbox.list({ since, until: at, after: '0190', limit: 10 })],
  ['the list by state', () => stores().outbox.list({ state: 'pending', since, limit: 10 })],
  [
    'the record of attempts',
    ({ id }) =>
      stores().outbox.record([{ eventId: id, attempt: { subscriber: 'a', at, outcome: 'delivered' } }], ['a', 'b']),
  ],
  ['the mark', ({ id }) => stores().outbox.markDelivered([{ eventId: id, by: ['b'], at }], ['a', 'b'])],
  ['the note of an error', ({ id }) => stores().outbox.noteError([id], 'an error')],
  [
    'the dead letter',
    (event) =>
      stores().letters.bury({
        event,
        attempt: { subscriber: 'a', at, outcome: 'given_up', error: 'no' },
        attempts: 1,
        since: at,
        subscribers: ['a'],
      }),
  ],
  [
    'the list of dead letters',
    () => stores().letters.list({ since, until: at, limit: 10, after: { _id: 'a:0', created_at: since } }),
  ],
  ["the list of a subscriber's dead letters", () => stores().letters.list({ subscriber: 'a', since, limit: 10 })],
  ["an event's dead letters", ({ id }) => stores().letters.find(id)],
  ['the count of dead letters', () => stores().letters.counts(1_000)],
  ['the note of the subscribers', () => createStores(collectionsOf(db)).subscribers.configure(['a'], at)],
  ['the replay', ({ id }) => stores().replay({ eventId: id, deadOnly: false, at })],
  ['the discard', ({ id }) => stores().letters.discard(id, 'a', at)],
];

describe('every query of the outbox and the dead letters is answered by an index', () => {
  test.each(works)('%s', async (_what, work) => {
    const event = newEvent();
    await commitEvent(mongo, db, event, longAgo());
    const stages = await plansOf(() => work(event));
    expect(stages).not.toContain('COLLSCAN');
    expect([...stages].some((stage) => /^(IXSCAN|IDHACK|COUNT_SCAN|DISTINCT_SCAN|EXPRESS_\w+)$/.test(stage))).toBe(
      true,
    );
  });

  test('the count of what waits looks at no row, and so does that of dead letters', async () => {
    const { outbox, letters } = stores();
    expect(await plansOf(() => outbox.backlog(1_000))).not.toContain('FETCH');
    expect(await plansOf(() => letters.counts(1_000))).not.toContain('FETCH');
  });
});

test('the retention of delivered rows follows the last migration', async () => {
  const retention = async () => {
    const indexes = await collectionsOf(db).outbox.indexes();
    return indexes.find(({ name }) => name === 'delivered_ttl')?.expireAfterSeconds;
  };
  expect(await retention()).toBe(7 * 86_400);
  await ensureIndexes(db, { outboxRetentionSeconds: 3_600 });
  expect(await retention()).toBe(3_600);
  await ensureIndexes(db, { outboxRetentionSeconds: 3_600 });
  await ensureIndexes(db);
  expect(await retention()).toBe(7 * 86_400);
});
