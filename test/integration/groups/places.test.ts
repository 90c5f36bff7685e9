import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Account, newSession, type TokenPair } from '../../support/api/accounts.ts';
import { accept, expectSound, insertInvite } from '../../support/api/groups.ts';
import { joinBy } from '../../support/api/invites.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';

const places = 3;

/** Two pods of one deployment, whose groups take this many members besides their owner. */
let pods: [TestApi, TestApi];
beforeAll(async () => {
  const api = await startTestApi({ MAX_GROUP_MEMBERS: String(places + 1) });
  const other = await api.beside();
  pods = [api, other];
});
afterAll(async () => {
  await pods[0].close();
});

// guarantees: max-group-members
test('fifty simultaneous joins over two pods for the last three places of a group let three users in', async () => {
  const [api] = pods;
  const { home_group_id } = await newSession(api);
  const invite = await insertInvite(api, home_group_id);
  const movers: (Account & TokenPair)[] = [];
  while (movers.length < 25) movers.push(await newSession(api));
  const users = await api.collections.users.countDocuments();
  const events = await api.collections.outbox.countDocuments();
  const podFor = (i: number) => pods[i % 2 === 0 ? 0 : 1];
  const joins = movers.flatMap((mover, i) => [accept(podFor(i), mover, invite), joinBy(podFor(i + 1), invite)]);
  const statuses = (await Promise.all(joins)).map(({ status }) => status);
  expect(statuses.filter((status) => status < 300)).toHaveLength(places);
  expect(statuses.filter((status) => status >= 300 && status !== 410)).toEqual([]);

  const registered = statuses.filter((status) => status === 201).length;
  expect(await api.collections.groups.findOne({ _id: home_group_id })).toMatchObject({ member_count: places + 1 });
  expect(await api.collections.invites.findOne({ _id: invite })).toMatchObject({ uses: places });
  expect(await api.collections.users.countDocuments()).toBe(users + registered);
  expect(await api.collections.outbox.countDocuments()).toBe(events + registered);
  await expectSound(api);
});
