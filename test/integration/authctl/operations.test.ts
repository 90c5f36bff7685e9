import { OperationError, toOperationError } from '@auth-account/operations';
import { planDelete, planDisable, planEnable, planPasswordReset, showAccount } from '@auth-account/operations/accounts';
import { listCommands, withQueue } from '@auth-account/operations/commands';
import { planReplay } from '@auth-account/operations/events';
import { type LogoutContext, planEndSessions } from '@auth-account/operations/sessions';
import { createTransactionRunner } from '@auth-account/stores';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newUserDocument } from '../../support/api/seed-accounts.ts';
import { storesOf } from '../../support/stores/stores-of.ts';
import { openWorkerFixture, type WorkerFixture } from '../../support/worker/worker-fixture.ts';

let fixture: WorkerFixture;
beforeAll(async () => {
  fixture = await openWorkerFixture();
});
afterAll(() => fixture.close());

/** Context of a program that keeps its connections open, and the lines of its audit log. */
function openContext(operator: { readonly name?: string; readonly reason?: string } = {}) {
  const { db, collections, redis, keys } = fixture;
  const audited: Readonly<Record<string, unknown>>[] = [];
  const store = { redis, keys, keyPrefix: keys.queuePrefix };
  const context = {
    ...{ db, collections, stores: storesOf(collections), now: () => new Date(), ...store },
    transaction: createTransactionRunner(fixture.mongo),
    operator: { name: 'Olga', reason: 'spam', requestId: 'page-1', audit: audited.push.bind(audited), ...operator },
    useRedis: <T>(work: (given: typeof store) => Promise<T>) => work(store),
    useCounts: () => Promise.reject(new OperationError('unavailable', 'no keys')),
    maxTokenSeconds: () => 600,
  };
  return { context, audited };
}

async function newUser(): Promise<string> {
  const user = newUserDocument(new Date());
  await fixture.collections.users.insertOne(user);
  return user._id;
}

const failureOf = (run: Promise<unknown>): Promise<OperationError | undefined> =>
  run.then(() => undefined, toOperationError);

test('an operation that was planned twice runs once, over connections that stay open, and the other plan finds the change', async () => {
  const { context, audited } = openContext();
  const user_id = await newUser();
  const [one, other] = [await planDisable(context, user_id), await planDisable(context, user_id)];
  expect([audited, await showAccount(context, user_id)]).toMatchObject([[], { disabled_at: null }]);
  const { problem } = await one.run();
  expect(problem).toBeNull();
  expect(await failureOf(other.run())).toMatchObject({ kind: 'changed', code: 'account_changed', subject: user_id });
  expect(await failureOf(planDisable(context, user_id))).toMatchObject({ kind: 'refused' });
  await (await planEnable(context, user_id)).run();
  const shared = { user_id, operator: 'Olga', request_id: 'page-1', operator_reason: 'spam' };
  expect(audited).toMatchObject([
    { ...shared, event: 'account.disabled' },
    { ...shared, event: 'account.enabled' },
  ]);
});

test('the question of a plan that is made again is the same until the account changes', async () => {
  const { context } = openContext();
  const user_id = await newUser();
  const ask = async () => (await planPasswordReset(context, user_id)).question;
  const question = await ask();
  expect(question).toContain(`${user_id} (cook-`);
  expect(await ask()).toBe(question);
  await fixture.collections.users.updateOne({ _id: user_id }, { $set: { last_login_at: new Date() } });
  expect(await ask()).not.toBe(question);
});

test.each([
  ['a name with a line break', { name: 'Olga\n' }, 14, "The operator's name: "],
  ['a reason with an email address', { reason: 'a@b.example' }, 14, 'The reason: It goes into logs'],
  ['no reason', { reason: '' }, 14, 'The reason: '],
  ['too many days', {}, 31, 'The days until the erasure: '],
  ['a part of a day', {}, 0.5, 'The days until the erasure: '],
])('a deletion with %s is refused, no matter which program orders it', async (_case, operator, graceDays, message) => {
  const { context } = openContext(operator);
  const failure = await failureOf(planDelete(context, await newUser(), { graceDays }));
  expect(failure).toMatchObject({ kind: 'invalid', message: expect.stringContaining(message) });
});

test('a forced logout with an email address in its reason is refused before it is ordered', async () => {
  const { context } = openContext();
  const options = { reason: 'asked by a@b.example', requestId: 'page-2', timeout: 0 };
  const useQueue: LogoutContext['useQueue'] = (work) => withQueue(context, work);
  const plan = await planEndSessions({ ...context, useQueue }, await newUser(), options);
  expect(await failureOf(plan.run())).toMatchObject({ kind: 'invalid' });
  expect(await listCommands(context, { limit: 10 })).toEqual({ commands: [] });
});

test('a replay that selects nothing is refused without the names of options, which are the program’s', async () => {
  const { context } = openContext();
  const failure = await failureOf(planReplay(context, { eventIds: [] }));
  expect(failure).toMatchObject({
    kind: 'invalid',
    code: 'nothing_selected',
    message: expect.not.stringMatching('--'),
  });
});
