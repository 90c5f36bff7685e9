import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Account, newSession, type TokenPair } from '../../support/api/accounts.ts';
import { accept, expectSound, insertInvite } from '../../support/api/groups.ts';
import { joinBy } from '../../support/api/invites.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';

let pods: [TestApi, TestApi];
beforeAll(async () => {
  const api = await startTestApi();
  const other = await api.beside();
  pods = [api, other];
});
afterAll(async () => {
  await pods[0].close();
});

async function people(count: number): Promise<(Account & TokenPair)[]> {
  const found: (Account & TokenPair)[] = [];
  while (found.length < count) found.push(...(await Promise.all(pods.map((pod) => newSession(pod)))));
  return found;
}

async function retries(): Promise<number> {
  const counts = await Promise.all(pods.map((pod) => pod.metric('auth_transaction_retries_total', { kind: 'work' })));
  return counts.reduce((sum, count) => sum + count, 0);
}

/**
 * Lets `size` users join one group at once, half of them new, and expects that all are let in. Returns how many
 * transactions were tried again because of a conflict.
 */
async function joinAtOnce(size: number, podFor: (i: number) => TestApi): Promise<number> {
  const [api] = pods;
  const { home_group_id } = await newSession(api);
  const invite = await insertInvite(api, home_group_id);
  const movers = await people(size / 2);
  const before = await retries();
  const answers = await Promise.all(
    movers.flatMap((mover, i) => [accept(podFor(i), mover, invite), joinBy(podFor(i + 1), invite)]),
  );
  expect(answers.filter(({ status }) => status >= 300).map(({ text }) => text)).toEqual([]);
  expect(await api.collections.groups.findOne({ _id: home_group_id })).toMatchObject({ member_count: size + 1 });
  expect(await api.collections.invites.findOne({ _id: invite })).toMatchObject({ uses: size });
  await expectSound(api);
  return (await retries()) - before;
}

// guarantees: hundred-join
test('a hundred users who join one group at once over two pods, half of them new, are all let in', async () => {
  await joinAtOnce(100, (i) => pods[i % 2 === 0 ? 0 : 1]);
});

test('users who join one group at once by one pod do not conflict with each other', async () => {
  expect(await joinAtOnce(20, () => pods[0])).toBe(0);
});
