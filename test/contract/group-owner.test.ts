import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newSession } from '../support/api/accounts.ts';
import { bearer, type Caller } from '../support/api/api-driver.ts';
import {
  currentGroup,
  expectSound,
  handOver,
  insertInvite,
  joinByInvite,
  leave,
  removeMember,
} from '../support/api/groups.ts';
import { joinBy } from '../support/api/invites.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(async () => {
  await expectSound(api);
  await api.close();
});

async function newGroupOf(size: number) {
  const owner = await newSession(api);
  const invite = await insertInvite(api, owner.home_group_id);
  const members: Awaited<ReturnType<typeof joinByInvite>>[] = [];
  for (let i = 1; i < size; i += 1) members.push(await joinByInvite(api, invite));
  return { owner, members, invite };
}

type Members = Awaited<ReturnType<typeof newGroupOf>>['members'];
const first = ([member]: Members) => {
  if (member === undefined) throw new Error('no member');
  return member;
};

test('a group that is handed over has a new owner, and no session has changed', async () => {
  const { owner, members } = await newGroupOf(3);
  const heir = first(members.slice(1));
  const answer = await handOver(api, owner, heir.user_id.toUpperCase());
  expect(answer.status).toBe(200);
  expect(answer.json.data).toEqual({
    message: 'OWNER_CHANGED',
    user_id: heir.user_id,
    timestamp: expect.any(String),
  });
  const { data } = (await currentGroup(api, heir)).json;
  expect(data.role).toBe('owner');
  expect(data.members.map(({ role }: { role: string }) => role)).toEqual(['member', 'member', 'owner']);
  expect((await currentGroup(api, owner)).json.data.role).toBe('member');
  expect((await api.createInvite({}, bearer(owner))).json.error_code).toBe('ERR-GROUP-OWNER-REQUIRED');
  expect((await api.createInvite({}, bearer(heir))).status).toBe(201);
});

// guarantees: one-owner-in-handover
test('a group has one owner, who is a member, whoever leaves, joins, is removed or becomes owner at the same time', async () => {
  for (let round = 0; round < 6; round += 1) {
    const { owner, members } = await newGroupOf(4);
    const invite = await insertInvite(api, owner.home_group_id);
    const [a, b, c] = members.map(({ user_id }) => user_id) as [string, string, string];
    const [tokenA] = members;
    const all = [
      () => handOver(api, owner, a),
      () => handOver(api, owner, b),
      () => leave(api, first(members)),
      () => removeMember(api, owner, c),
      () => joinBy(api, invite),
      () => (round % 2 ? leave(api, owner) : handOver(api, tokenA as Caller, c)),
    ];
    const answers = await Promise.all(all.map((begin) => begin()));
    for (const { status } of answers) expect(status).toBeLessThan(500);
    await expectSound(api);
  }
});
