import { writeFile } from 'node:fs/promises';
import { urgentTopic } from '@auth-account/contracts/events';
import { collectionsOf, mongoOptions } from '@auth-account/stores';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { planOf } from '../../support/stores/query-plans.ts';
import { type Query, queriesOf, shapeOf } from '../../support/stores/query-shape.ts';
import { monitored, type SentCommand, watchSentCommands } from '../../support/stores/sent-commands.ts';
import { storesOf } from '../../support/stores/stores-of.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { dueRow } from '../../support/worker/worker-events.ts';
import { startReceiver } from '../../support/worker/worker-receiver.ts';
import { startTestWorker } from '../../support/worker/worker-service.ts';
import { type HotOperation, type KnownQuery, knownQueries, recordedFile } from '../../tools/queries/known-queries.ts';
import { driveAuthctl, driveRoutes, driveWorker, hotOperations } from './queries/drive-services.ts';
import { type CallFixture, storeCalls } from './queries/store-calls.ts';
import { type CallWatch, watchCalls } from './queries/watch-calls.ts';

const sent = watchSentCommands();
const MONGODB_URI = monitored(testEnvironment().mongodbUri);
const sentByHot = new Map<HotOperation, SentCommand[]>();
let api: TestApi;
let seen: Awaited<ReturnType<typeof found>>;
let calls: CallWatch;
let wasCalled: Awaited<ReturnType<CallWatch['end']>>;

// Each part has a hook, and so a limit for hangs, of its own.
beforeAll(async () => {
  calls = await watchCalls(new URL('../../../libs/stores/src/', import.meta.url));
  api = await startTestApi({ MONGODB_URI });
  for (const name of Object.keys(hotOperations) as HotOperation[]) {
    sentByHot.set(name, await sent.during(await hotOperations[name](api)));
  }
});
beforeAll(driveStores);
beforeAll(() => driveRoutes(api));
beforeAll(driveOthers);
beforeAll(async () => {
  wasCalled = await calls.end();
  seen = await found();
});
afterAll(async () => {
  sent.close();
  await api.close();
});

/** Calls the store functions that the services rarely call. There are rows that are due, held and leased. */
async function driveStores(): Promise<void> {
  const leased = { attempts: 1, locked_until: new Date(Date.now() + 60_000) };
  const held = { held: { for: ['analytics'], until: new Date() }, locked_until: leased.locked_until };
  const urgent = { topic: urgentTopic, locked_until: new Date(Date.now() - 59_000) };
  await api.collections.outbox.insertMany([...[dueRow(), dueRow(held), dueRow(held), dueRow(leased)], dueRow(urgent)]);
  const client = new MongoClient(MONGODB_URI, mongoOptions('stores', MONGODB_URI));
  await client.connect();
  const stores = storesOf(collectionsOf(client.db(api.database)));
  const call = (one: (on: CallFixture) => Promise<unknown>) =>
    client.withSession(async (session) => {
      session.startTransaction();
      await one({ stores, session });
      await session.abortTransaction();
    });
  for (const calls of Object.values(storeCalls)) {
    for (const one of Object.values(calls)) await call(one);
  }
  await client.close();
}

/** Lets a worker do all its work, and an operator run all commands. */
async function driveOthers(): Promise<void> {
  const receiver = await startReceiver('analytics');
  const EVENT_SUBSCRIBERS = JSON.stringify([receiver.subscriber]);
  const env = { ...api.env, MONGODB_URI, EVENT_SUBSCRIBERS };
  const worker = await startTestWorker(env);
  try {
    await driveWorker(api);
    await driveAuthctl(api, env);
  } finally {
    await worker.close();
    await receiver.close();
  }
}

/** Work of the server for a query. */
interface Traits {
  readonly sorts: boolean;
  readonly scans: boolean;
}

async function traitsOf({ bare }: Query): Promise<Traits> {
  const { stages } = await planOf(api.mongo.db(api.database), bare);
  return { sorts: stages.has('SORT'), scans: stages.has('COLLSCAN') };
}

const shapesOf = (commands: readonly SentCommand[]) =>
  new Set(commands.flatMap(({ command }) => queriesOf(command).map(shapeOf)));

async function found(): Promise<Record<string, Traits & Pick<KnownQuery, 'hot'>>> {
  const byShape = new Map(
    sent.all.flatMap(({ command }) => queriesOf(command).map((query) => [shapeOf(query), query])),
  );
  const hot = [...sentByHot].map(([name, commands]) => [name, shapesOf(commands)] as const);
  const entries = [...byShape].map(async ([shape, query]) => {
    const of = hot.filter(([, shapes]) => shapes.has(shape)).map(([name]) => name);
    return [shape, { ...(await traitsOf(query)), hot: of }] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** Functions of the stores, by name: `users.find`. */
function storeFunctions() {
  const nouns = Object.entries(storesOf(api.collections)).filter(([, store]) => typeof store === 'object');
  return nouns.flatMap(([noun, store]) =>
    Object.entries<(...args: never[]) => unknown>(store).map(([name, one]) => [`${noun}.${name}`, one] as const),
  );
}

const known = Object.entries(knownQueries);

describe('the queries of the services', () => {
  test('the recorded queries come from every function of the stores: the services call it, or store-calls.ts', () => {
    const uncalled = storeFunctions().filter(([, one]) => !wasCalled(one));
    expect(uncalled.map(([name]) => name)).toEqual([]);
  });

  test('the queries are those that `npm run generate queries` has recorded, by the hot operations that it names', async () => {
    const sending = Object.entries(seen).map(([shape, { hot }]) => [shape, hot.join(', ')]);
    if (process.env.RECORD_QUERIES === '1') {
      await writeFile(recordedFile, `${JSON.stringify(Object.fromEntries(sending.toSorted()), null, 2)}\n`);
    } else {
      const recorded = known.map(([shape, { hot }]) => [shape, hot.join(', ')]);
      expect(Object.fromEntries(sending)).toEqual(Object.fromEntries(recorded));
    }
  });

  test('every query goes by an index and in its order, or has a reason in known-queries.ts', () => {
    const traits = Object.entries(seen).map(([shape, { hot, ...of }]) => [shape, of]);
    const documented = Object.keys(seen).map((shape) => {
      const { sorts, scans } = knownQueries[shape] ?? {};
      // While the server holds little, it may prefer an index in the right order.
      return [shape, { sorts: sorts !== undefined && expect.any(Boolean), scans: scans !== undefined }];
    });
    expect(Object.fromEntries(traits)).toEqual(Object.fromEntries(documented));
  });

  test('no query of a hot operation sorts in memory or reads a whole collection', () => {
    const hot = known.filter(([, { hot }]) => hot.length > 0);
    const wrong = hot.filter(([, { sorts, scans }]) => sorts ?? scans);
    expect(wrong).toEqual([]);
    expect(new Set(hot.flatMap(([, { hot }]) => hot))).toEqual(new Set(Object.keys(hotOperations)));
  });

  test('a query without an index or an order would be caught', async () => {
    const { users } = api.collections;
    const watched = watchSentCommands();
    const client = new MongoClient(MONGODB_URI, mongoOptions('a test', MONGODB_URI));
    const commands = await watched.during(() =>
      client.db(api.database).collection(users.collectionName).find({ locale: 'en' }).sort({ email: 1 }).toArray(),
    );
    await client.close();
    watched.close();
    const [query] = commands.flatMap(({ command }) => queriesOf(command));
    if (query === undefined) throw new Error('the query was not sent');
    expect(shapeOf(query)).toBe('users find {locale} by email');
    expect(await traitsOf(query)).toEqual({ sorts: true, scans: true });
  });
});
