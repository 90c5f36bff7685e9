import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Account, newEmail, newSession, type TokenPair } from '../support/api/accounts.ts';
import { bearer } from '../support/api/api-driver.ts';
import {
  accept,
  currentGroup,
  expectSound,
  insertInvite,
  joinByInvite,
  leave,
  removeMember,
} from '../support/api/groups.ts';
import { joinBy } from '../support/api/invites.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import type { Answer } from '../support/http-client.ts';

/** An api whose groups have at most two members. */
let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ MAX_GROUP_MEMBERS: '2' });
});
afterAll(async () => {
  await expectSound(api);
  await api.close();
});

async function fullHousehold(): Promise<{
  readonly owner: Account & TokenPair;
  readonly member: Account & TokenPair;
  readonly invite: string;
}> {
  const owner = await newSession(api);
  const invite = await insertInvite(api, owner.home_group_id);
  return { owner, invite, member: await joinByInvite(api, invite) };
}

const look = (token: string) => api.findInvite({ token });
const usesOf = async (_id: string) => (await api.collections.invites.findOne({ _id }))?.uses;

/** Asserts that the answer is exactly that of a used-up invite. */
async function expectUsedUp(answer: Answer, ask: (invite: string) => Promise<Answer>, invite: string): Promise<void> {
  const elsewhere = (await newSession(api)).home_group_id;
  const usedUp = await insertInvite(api, elsewhere, { max_uses: 1, uses: 1 });
  const { status, json, headers } = await ask(usedUp);
  expect([answer.status, answer.json.error_code]).toEqual([410, 'ERR-INVITE-TOKEN-INVALID']);
  expect([answer.status, answer.json.error_code, answer.json.message]).toEqual([status, json.error_code, json.message]);
  expect(answer.json.details).toEqual({ ...json.details, provided_token: invite });
  expect(answer.headers['x-error-code']).toBe(headers['x-error-code']);
}

describe('an invite into a group that has as many members as it may have', () => {
  // guarantees: max-group-members
  test('an invite into a full group answers a registration as one that is used up, before the hash, and stores nothing', async () => {
    const { invite } = await fullHousehold();
    const email = newEmail();
    const hashes = await api.metric('auth_password_hash_duration_seconds');
    const answer = await joinBy(api, invite, email);
    expect(await api.metric('auth_password_hash_duration_seconds')).toBe(hashes);
    await expectUsedUp(answer, (token) => joinBy(api, token), invite);
    expect(await api.collections.users.countDocuments({ email })).toBe(0);
    expect(await usesOf(invite)).toBe(1);
  });

  // guarantees: max-group-members
  test('an invite into a full group answers an acceptance as one that is used up, and moves nobody', async () => {
    const { invite } = await fullHousehold();
    const mover = await newSession(api);
    for (const body of [{}, { leave_current_group: true }]) {
      await expectUsedUp(await accept(api, mover, invite, body), (token) => accept(api, mover, token, body), invite);
    }
    expect((await currentGroup(api, mover)).json.data.home_group_id).toBe(mover.home_group_id);
    expect(await usesOf(invite)).toBe(1);
  });

  test('an invite into a full group gets a member the answer IAD_GROUP_ALREADY_MEMBER', async () => {
    const { invite, member } = await fullHousehold();
    const answer = await accept(api, member, invite);
    expect([answer.status, answer.json.error_code]).toEqual([400, 'IAD_GROUP_ALREADY_MEMBER']);
  });

  test('an invite into a full group asks the user who has just taken the last place, by another tap, to refresh', async () => {
    const owner = await newSession(api);
    const invite = await insertInvite(api, owner.home_group_id);
    const mover = await newSession(api);
    expect((await accept(api, mover, invite)).status).toBe(200);
    // As if the change that the other tap made had not been announced yet.
    await api.collections.sessions.updateOne({ _id: mover.session_id }, { $set: { 'claims.ver': 1 } });
    const answer = await accept(api, mover, invite);
    expect([answer.status, answer.json.error_code]).toEqual([401, 'IAD_JWT_ACCESS_INVALID']);
  });

  test('an invite into a full group is used up for anybody who reads it, and valid in the owner’s list', async () => {
    const { owner, invite } = await fullHousehold();
    expect((await look(invite)).json.data).toMatchObject({ valid: false, reason: 'used_up' });
    const list = await api.listInvites(bearer(owner));
    expect(list.json.data.invites).toEqual([expect.objectContaining({ invite_token: invite, valid: true, uses: 1 })]);
  });

  test('an invite into a full group is shown as expired or revoked if it is', async () => {
    const { owner } = await fullHousehold();
    const over = await insertInvite(api, owner.home_group_id, { expires_at: new Date(Date.now() - 1_000) });
    expect((await look(over)).json.data).toMatchObject({ valid: false, reason: 'expired' });
    const revoked = await insertInvite(api, owner.home_group_id, { revoked_at: new Date() });
    expect((await joinBy(api, over)).headers['x-error-code']).toBe('IAD_GROUP_INVITE_EXPIRED');
    expect((await look(revoked)).json.data).toMatchObject({ valid: false, reason: 'revoked' });
  });

  test.each<[string, (household: Awaited<ReturnType<typeof fullHousehold>>) => Promise<Answer>]>([
    ['leaves', ({ member }) => leave(api, member)],
    ['is removed', ({ owner, member }) => removeMember(api, owner, member.user_id)],
  ])('an invite into a full group lets the next user in when a member %s', async (_, goOut) => {
    const household = await fullHousehold();
    const { owner } = household;
    const invite = await insertInvite(api, owner.home_group_id);
    expect((await joinBy(api, invite)).status).toBe(410);
    expect((await goOut(household)).status).toBe(200);
    expect((await look(invite)).json.data).toMatchObject({ valid: true, reason: null });
    expect((await accept(api, await newSession(api), invite)).status).toBe(200);
    expect((await joinBy(api, invite)).status).toBe(410);
    expect((await currentGroup(api, owner)).json.data.members).toHaveLength(2);
  });
});

test('a group that an import has made larger takes nobody in until it has a free place', async () => {
  const { owner, invite } = await fullHousehold();
  const user = await api.collections.users.findOne({ _id: owner.user_id });
  if (user === null) throw new Error('no owner');
  const [_id, email_key] = [randomUUID(), newEmail()];
  await api.collections.users.insertOne({ ...user, _id, email: email_key, email_key, role: 'member' });
  await api.collections.groups.updateOne({ _id: owner.home_group_id }, { $inc: { member_count: 1 } });
  expect((await joinBy(api, invite)).status).toBe(410);
  expect((await removeMember(api, owner, _id)).status).toBe(200);
  expect((await joinBy(api, invite)).status).toBe(410);
});
