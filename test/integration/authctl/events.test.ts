import { randomUUID } from 'node:crypto';
import type { RegisteredEvent } from '@auth-account/contracts';
import {
  type Collections,
  collectionsOf,
  type DeadLetterStore,
  ensureIndexes,
  type OutboxStore,
} from '@auth-account/stores';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { type AuthctlOptions, authctl, authctlJson } from '../../support/processes/authctl.ts';
import { storesOf } from '../../support/stores/stores-of.ts';
import { testEnvironment, uniqueName } from '../../support/test-environment.ts';
import { commitEvent, newEvent } from '../../support/worker/worker-events.ts';

const subscribers = ['analytics', 'billing'];

let mongo: MongoClient;
let collections: Collections;
let outbox: OutboxStore;
let letters: DeadLetterStore;
let options: AuthctlOptions;
beforeAll(async () => {
  mongo = new MongoClient(testEnvironment().mongodbUri);
  const db = mongo.db(uniqueName());
  await ensureIndexes(db);
  collections = collectionsOf(db);
  const stores = storesOf(collections);
  ({ outbox, deadLetters: letters } = stores);
  await stores.subscribers.configure([...subscribers, 'crm'], new Date());
  // MongoDB alone, because the commands about events must work while Redis is away.
  options = { env: { MONGODB_URI: testEnvironment().mongodbUri, MONGODB_DATABASE: db.databaseName } };
});
afterAll(async () => {
  await mongo.db(collections.users.dbName).dropDatabase();
  await mongo.close();
});

async function pending(): Promise<RegisteredEvent> {
  const event = newEvent();
  await commitEvent(mongo, mongo.db(collections.users.dbName), event);
  return event;
}

async function deliveredTo(event: RegisteredEvent, ...names: string[]): Promise<RegisteredEvent> {
  const attempts = names.map((subscriber) => ({
    eventId: event.id,
    attempt: { subscriber, at: new Date(), outcome: 'delivered', status: 204, duration_ms: 12 } as const,
  }));
  await outbox.record(attempts, subscribers);
  return event;
}

/** Commits an event that `analytics` has and `billing` has refused. */
async function dead(): Promise<RegisteredEvent> {
  const event = await deliveredTo(await pending(), 'analytics');
  const at = new Date();
  const attempt = { subscriber: 'billing', at, outcome: 'given_up', status: 500, error: 'answered 500' } as const;
  await letters.add({ event, attempt, attempts: 3, since: at, subscribers: subscribers });
  return event;
}

const row = (event: RegisteredEvent) => collections.outbox.findOne({ _id: event.id });
const ids = (list: { event_id: string }[]) => list.map(({ event_id }) => event_id);

describe('events list', () => {
  test('events list shows by state, subscriber and time what is pending, delivered or dead', async () => {
    const [waiting, done, lost] = [await pending(), await deliveredTo(await pending(), ...subscribers), await dead()];
    const list = async (...args: string[]) => ids((await authctlJson(['events', 'list', ...args], options)).events);
    expect(await list()).toEqual(expect.arrayContaining([waiting.id, done.id, lost.id]));
    expect(await list('--state', 'pending')).toEqual([waiting.id]);
    expect(await list('--state', 'delivered')).toEqual([done.id]);
    expect(await list('--state', 'dead')).toEqual([lost.id]);
    expect(await list('--subscriber', 'billing')).toEqual([done.id, lost.id]);
    expect(await list('--user', done.subject)).toEqual([done.id]);
    expect(await list('--since', '1h', '--limit', '1')).toEqual([waiting.id]);
    expect(await list('--until', '2020-01-01')).toEqual([]);
    const letters = ['events', 'list', '--dead-letters', '--subscriber', 'billing', '--user'];
    const { dead_letters } = await authctlJson([...letters, lost.subject], options);
    expect(await authctlJson([...letters, done.subject], options)).toEqual({ dead_letters: [] });
    expect(dead_letters).toMatchObject([
      { event_id: lost.id, subscriber: 'billing', attempts: 3, last_error: 'answered 500' },
    ]);
    const table = await authctl(['events', 'list', '--dead-letters'], options);
    expect(table.stdout).toMatch(new RegExp(`^EVENT +SUBSCRIBER.*\n${lost.id}  billing `));
  });

  test.each([
    [['--state', 'lost'], 'Allowed choices'],
    [['--since', 'yesterday'], 'It must be a time'],
    [['--limit', '0'], 'whole number'],
    [['--subscriber', 'A B'], 'name of a subscriber'],
    [['--dead-letters', '--state', 'dead'], 'cannot be used with'],
  ])('events list refuses %j', async (args, why) => {
    const run = await authctl(['events', 'list', ...args], options);
    expect(run).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining(why) });
  });
});

describe('events show', () => {
  test('events show lists every attempt and dead letter of an event', async () => {
    const event = await dead();
    expect(await authctlJson(['events', 'show', event.id], options)).toMatchObject({
      event_id: event.id,
      state: 'dead',
      event: { id: event.id, data: event.data },
      attempts: [
        { subscriber: 'analytics', outcome: 'delivered', status: 204, duration_ms: 12 },
        { subscriber: 'billing', outcome: 'given_up', status: 500, error: 'answered 500' },
      ],
      dead_letters: [{ subscriber: 'billing', attempts: 3 }],
    });
    const { stdout } = await authctl(['events', 'show', event.id], options);
    expect(stdout).toContain(`request_id      ${event.requestid}`);
    expect(stdout).toMatch(/analytics +delivered +204 +12/);
  });

  test('events show of an unknown event ends with exit code 1', async () => {
    const run = await authctl(['events', 'show', randomUUID()], options);
    expect(run).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('There is no event') });
  });
});

describe('events replay', () => {
  test('events replay sends the named events again, to all who had them or to one subscriber', async () => {
    const [one, other] = [await deliveredTo(await pending(), ...subscribers), await dead()];
    const sent = await authctlJson(['events', 'replay', one.id, other.id, '--yes'], options);
    expect(sent).toEqual({ selected: 2, replayed: 2, deliveries: 4, skipped: 0, skips: [] });
    expect(await row(one)).toMatchObject({ state: 'pending', deliveries: {}, event: { id: one.id } });

    const third = await deliveredTo(await pending(), ...subscribers);
    const args = ['events', 'replay', third.id, '--subscriber', 'billing', '--yes'];
    expect(await authctlJson(args, options)).toMatchObject({ replayed: 1, deliveries: 1 });
    expect(Object.keys((await row(third))?.deliveries ?? {})).toEqual(['analytics']);
  });

  test('events replay of dead letters goes only to whom they were given up; a dry run counts them and sends nothing', async () => {
    const lost = [await dead(), await dead()];
    const before = await Promise.all(lost.map(row));
    const select = ['events', 'replay', '--dead-letters', '--since', '1h'];
    const { selected } = await authctlJson([...select, '--dry-run'], options);
    expect(selected).toBeGreaterThanOrEqual(2);
    expect(await Promise.all(lost.map(row))).toEqual(before);
    const sent = await authctlJson([...select, '--yes'], options);
    expect(sent).toEqual({ selected, replayed: selected, deliveries: selected, skipped: 0, skips: [] });
    for (const event of lost) {
      expect(await row(event)).toMatchObject({ state: 'pending', deliveries: { analytics: expect.any(Date) } });
    }
    expect(await authctlJson(['events', 'list', '--dead-letters'], options)).toEqual({ dead_letters: [] });
  });

  test('events replay asks first: no is no, yes is yes, and if nobody can be asked it needs --yes', async () => {
    const event = await dead();
    const args = ['events', 'replay', event.id];
    const nobody = await authctl(args, options);
    expect(nobody).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining('give --yes') });
    const no = await authctl(args, { ...options, answer: 'n' });
    expect(no).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining('Send 1 event again? [y/N]'),
    });
    expect((await row(event))?.state).toBe('dead');
    expect(await authctl(args, { ...options, answer: 'y' })).toMatchObject({ exitCode: 0 });
    expect((await row(event))?.state).toBe('pending');
  });

  test('events replay refuses to send everything because an option was forgotten, and says if there is nothing', async () => {
    expect(await authctl(['events', 'replay', '--yes'], options)).toMatchObject({ exitCode: 2, stdout: '' });
  });

  test('events replay gives a reason for each event that it skips', async () => {
    const [waiting, done] = [await pending(), await deliveredTo(await pending(), ...subscribers)];
    const reasonsOf = async (...args: string[]) => {
      const { replayed, skips } = await authctlJson(['events', 'replay', ...args, '--yes'], options, 1);
      expect(replayed).toBe(0);
      return skips.map(({ reason }: { reason: string }) => reason);
    };
    expect(await reasonsOf(randomUUID())).toEqual(['there is no such event']);
    const all = 'analytics, billing, crm';
    expect(await reasonsOf(waiting.id)).toEqual([
      `it waits for ${all}: authctl events retry analytics; authctl events retry billing; authctl events retry crm`,
    ]);
    expect(await reasonsOf(waiting.id, '--subscriber', 'crm')).toEqual(['it waits for crm: authctl events retry crm']);
    expect(await reasonsOf(done.id, '--subscriber', 'billing', '--missing')).toEqual([
      'billing has it, or is not to get it',
    ]);
    const { stdout } = await authctl(['events', 'replay', waiting.id, '--yes'], options);
    expect(stdout).toMatch(new RegExp(`SKIPPED +REASON\n${waiting.id}  it waits for `));
  });
});

describe('a subscriber that no worker has', () => {
  const why = 'The workers have no subscriber biling (EVENT_SUBSCRIBERS): they have analytics, billing, crm.';
  test.each([
    ['replay', '--state', 'dead', '--yes', '--subscriber', 'biling'],
    ['park', 'biling'],
  ])('events %s refuses a subscriber that no worker has, and names those that there are', async (...args) => {
    const run = await authctl(['events', ...args], options);
    expect(run).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining(why) });
    expect(await collections.subscribers.countDocuments({ _id: 'biling' })).toBe(0);
  });

  test('a subscriber that no worker has keeps its dead letter when all dead letters are sent again', async () => {
    const event = await dead();
    const at = new Date();
    const attempt = { subscriber: 'former', at, outcome: 'given_up', status: 500, error: 'answered 500' } as const;
    await letters.add({ event, attempt, attempts: 3, since: at, subscribers: [...subscribers, 'former'] });
    const args = ['events', 'replay', '--dead-letters', '--yes'];
    const reason = 'the workers do not have its subscriber, or it does not take such events';
    expect(await authctlJson(args, options)).toMatchObject({ skipped: 1, skips: [{ event_id: event.id, reason }] });
    expect(await letters.find(event.id)).toMatchObject([{ subscriber: 'former' }]);
    expect(await row(event)).toMatchObject({ dead: { former: at } });
    await letters.discard(event.id, 'former', at);
  });
});

test('events discard takes a dead letter away, once', async () => {
  const event = await dead();
  const args = ['events', 'discard', event.id, '--subscriber', 'billing', '--yes'];
  expect(await authctlJson(args, options)).toEqual({ event_id: event.id, subscriber: 'billing', discarded: true });
  expect(await row(event)).toMatchObject({ state: 'delivered', discarded: { billing: expect.any(Date) } });
  expect(await authctl(args, options)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('no dead letter'),
  });
});

test('events park suspends a subscriber, events resume lets it go on, and events subscribers shows both', async () => {
  const status = async () => {
    const { subscribers } = await authctlJson(['events', 'subscribers'], options);
    return subscribers.find(({ name }: { name: string }) => name === 'crm');
  };
  expect(await authctl(['events', 'resume', 'crm'], options)).toMatchObject({
    exitCode: 1,
    stdout: 'crm was not suspended.\n',
  });
  expect(await authctlJson(['events', 'park', 'crm'], options)).toEqual({ subscriber: 'crm', parked: true });
  expect(await authctlJson(['events', 'park', 'crm'], options, 1)).toEqual({ subscriber: 'crm', parked: false });
  expect(await status()).toMatchObject({
    configured: true,
    parked_at: expect.any(String),
    parked_by_event: 'operator',
  });
  expect(await authctlJson(['events', 'resume', 'crm'], options)).toEqual({ subscriber: 'crm', resumed: true });
  expect(await status()).toMatchObject({ parked_at: null, resumed_at: expect.any(String) });
});
