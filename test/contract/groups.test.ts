import { randomUUID } from 'node:crypto';
import { createDenyList, denialLifetimeMs } from '@auth-account/messaging/deny-list';
import { redisKeys } from '@auth-account/redis';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { type Account, logIn, newEmail, newSession, password, type TokenPair } from '../support/api/accounts.ts';
import { bearer, type Caller } from '../support/api/api-driver.ts';
import {
  accept,
  currentGroup,
  expectSound,
  insertInvite,
  joinByInvite,
  leave,
  refresh,
  removeMember,
} from '../support/api/groups.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import type { Answer } from '../support/http-client.ts';
import { testEnvironment } from '../support/test-environment.ts';
import { untilUnchanged } from '../support/until-unchanged.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const invalid = expect.objectContaining({ error_code: 'IAD_JWT_ACCESS_INVALID' });
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const sessionOf = (session_id: string) => api.collections.sessions.findOne({ _id: session_id });
const groupOf = (home_group_id: string) => api.collections.groups.findOne({ _id: home_group_id });

/** Creates a household of two, its owner and a member who came by an invite. */
async function newHousehold() {
  const owner = await newSession(api);
  const invite = await insertInvite(api, owner.home_group_id);
  return { owner, invite, member: await joinByInvite(api, invite) };
}

describe('the current group', () => {
  test('the current group names its members with their roles, the one who has been there for longest first', async () => {
    const { owner, member } = await newHousehold();
    const answer = await currentGroup(api, member);
    expect(answer.status).toBe(200);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.json).toEqual({
      status: 'success',
      data: {
        home_group_id: owner.home_group_id,
        name: null,
        account_type: 'HOME',
        stock_deficit: 'masked',
        role: 'member',
        created_at: timestamp,
        members: [
          { user_id: owner.user_id, email: owner.email, display_name: null, role: 'owner', joined_at: timestamp },
          { user_id: member.user_id, email: member.email, display_name: null, role: 'member', joined_at: timestamp },
        ],
        timestamp,
      },
    });
    expect((await currentGroup(api, owner)).json.data.role).toBe('owner');
  });

  test('the current group of an office says that a deficit is refused', async () => {
    const email = newEmail();
    await api.registerAccount({ email, password, space_creation_mode: 'CREATE_NEW_OFFICE' });
    const { data } = (await currentGroup(api, await logIn(api, email))).json;
    expect(data).toMatchObject({ account_type: 'OFFICE', stock_deficit: 'refused', role: 'owner' });
  });

  // guarantees: members-only
  test('a group is not shown to a former member, even if neither Redis nor the session has heard of it', async () => {
    const { member } = await newHousehold();
    const setGroup = (home_group_id: string) =>
      api.collections.users.updateOne({ _id: member.user_id }, { $set: { home_group_id } });
    await setGroup(randomUUID());
    expect(await currentGroup(api, member)).toMatchObject({ status: 401, json: invalid });
    await setGroup(member.home_group_id);
  });
});

describe('an acceptance of an invite', () => {
  // guarantees: move-voids-claims
  test('an acceptance moves the user as a member, ends no session, and a refresh leads into the new group', async () => {
    const [owner, mover] = [await newSession(api), await newSession(api)];
    const tablet = await logIn(api, mover.email);
    const invite = await insertInvite(api, owner.home_group_id, { max_uses: 3 });
    const answer = await accept(api, mover, invite.toUpperCase());
    expect(answer.status).toBe(200);
    const { home_group_id } = owner;
    expect(answer.json).toEqual({
      status: 'success',
      data: { home_group_id, account_type: 'HOME', role: 'member', timestamp },
    });
    for (const device of [mover, tablet]) {
      expect(await currentGroup(api, device)).toMatchObject({ status: 401, json: invalid });
      const tokens = await refresh(api, device);
      expect(tokens).toMatchObject({ home_group_id, session_id: device.session_id });
      expect((await currentGroup(api, tokens)).json.data).toMatchObject({ home_group_id, role: 'member' });
      expect(await sessionOf(device.session_id)).toMatchObject({
        is_revoked: false,
        claims: { home_group_id, account_type: 'HOME', ver: 2 },
        claims_changed_at: expect.any(Date),
        claims_request_id: 'test-request-1',
      });
    }
    expect(await api.collections.invites.findOne({ _id: invite })).toMatchObject({ uses: 1 });
    expect(await groupOf(home_group_id)).toMatchObject({ member_count: 2, owner_id: owner.user_id });
    expect(await groupOf(mover.home_group_id)).toMatchObject({ member_count: 0, closed_at: expect.any(Date) });
    expect(await api.collections.users.findOne({ _id: mover.user_id })).toMatchObject({
      home_group_id,
      role: 'member',
      sessions_changed_at: expect.any(Date),
    });
  });

  test.each([{}, { leave_current_group: false }])(
    'an acceptance with %j answers 400: the app asks the user first',
    async (body) => {
      const [owner, mover] = [await newSession(api), await newSession(api)];
      const answer = await accept(api, mover, await insertInvite(api, owner.home_group_id), body);
      expect([answer.status, answer.json.error_code]).toEqual([400, 'IAD_GROUP_ALREADY_MEMBER']);
      expect(answer.headers['x-error-code']).toBe('IAD_GROUP_ALREADY_MEMBER');
      expect((await currentGroup(api, mover)).status).toBe(200);
    },
  );

  test('an acceptance into the own group answers 400, even by a used-up invite, so that a repeated move is recognized', async () => {
    const [owner, mover] = [await newSession(api), await newSession(api)];
    const invite = await insertInvite(api, owner.home_group_id, { max_uses: 1 });
    await accept(api, mover, invite);
    const answer = await accept(api, await refresh(api, mover), invite);
    expect([answer.status, answer.json.error_code]).toEqual([400, 'IAD_GROUP_ALREADY_MEMBER']);
    expect(await groupOf(owner.home_group_id)).toMatchObject({ member_count: 2 });
  });

  test.each([
    ['expired', { expires_at: new Date(Date.now() - 1_000) }, 410, 'IAD_GROUP_INVITE_EXPIRED'],
    ['revoked', { revoked_at: new Date() }, 410, 'ERR-INVITE-TOKEN-INVALID'],
    ['used up', { max_uses: 2, uses: 2 }, 410, 'ERR-INVITE-TOKEN-INVALID'],
  ])('an invite that is %s is refused, before the user is asked', async (_, fields, status, code) => {
    const [owner, mover] = [await newSession(api), await newSession(api)];
    const invite = await insertInvite(api, owner.home_group_id, fields);
    for (const body of [{ leave_current_group: true }, {}]) {
      const answer = await accept(api, mover, invite, body);
      expect([answer.status, answer.json.error_code]).toEqual([status, code]);
      expect(answer.headers['cache-control']).toBe('no-store');
      if (code === 'ERR-INVITE-TOKEN-INVALID') expect(answer.json.details.provided_token).toBe(invite);
    }
    expect((await currentGroup(api, mover)).status).toBe(200);
  });

  test('an acceptance into a closed group answers 410, as by a revoked invite', async () => {
    const [owner, mover] = [await newSession(api), await newSession(api)];
    const invite = await insertInvite(api, owner.home_group_id);
    await api.collections.groups.updateOne({ _id: owner.home_group_id }, { $set: { closed_at: new Date() } });
    const answer = await accept(api, mover, invite);
    expect([answer.status, answer.json.error_code]).toEqual([410, 'ERR-INVITE-TOKEN-INVALID']);
    expect(await api.collections.invites.findOne({ _id: invite })).toMatchObject({ uses: 0 });
    await api.collections.groups.updateOne({ _id: owner.home_group_id }, { $set: { closed_at: null } });
  });
});

describe('a leave', () => {
  test('a leave leads into a new household of one’s own, and the owner stays the owner', async () => {
    const { owner, member } = await newHousehold();
    const answer = await leave(api, member);
    expect(answer.status).toBe(200);
    const { home_group_id } = answer.json.data;
    expect(answer.json.data).toEqual({ home_group_id, account_type: 'HOME', role: 'owner', timestamp });
    expect(home_group_id).not.toBe(owner.home_group_id);
    expect(await currentGroup(api, member)).toMatchObject({ status: 401, json: invalid });
    const { members, role } = (await currentGroup(api, await refresh(api, member))).json.data;
    expect([role, members]).toEqual(['owner', [expect.objectContaining({ user_id: member.user_id })]]);
    expect((await currentGroup(api, owner)).json.data.members).toHaveLength(1);
  });

  test('an owner who leaves hands the group to its longest-standing member', async () => {
    const { owner, invite, member } = await newHousehold();
    const youngest = await joinByInvite(api, invite);
    expect((await leave(api, owner)).status).toBe(200);
    const { members } = (await currentGroup(api, youngest)).json.data;
    expect(members).toEqual([
      expect.objectContaining({ user_id: member.user_id, role: 'owner' }),
      expect.objectContaining({ user_id: youngest.user_id, role: 'member' }),
    ]);
    expect(await groupOf(owner.home_group_id)).toMatchObject({ owner_id: member.user_id, member_count: 2 });
    // The heir's tokens do not contain the role, and stay valid.
    expect((await currentGroup(api, member)).status).toBe(200);
  });

  test.each<[string, (alone: TokenPair & { user_id: string }) => Promise<Answer>]>([
    ['by leaving', (alone) => leave(api, alone)],
    ['by removing themselves', (alone) => removeMember(api, alone, alone.user_id)],
  ])('a user alone in a household moves into a new one %s: the old one closes and its invites die', async (_, go) => {
    const alone = await newSession(api);
    const invite = await insertInvite(api, alone.home_group_id);
    expect((await go(alone)).status).toBe(200);
    expect(await groupOf(alone.home_group_id)).toMatchObject({ member_count: 0, closed_at: expect.any(Date) });
    expect(await currentGroup(api, alone)).toMatchObject({ status: 401, json: invalid });
    const { home_group_id } = await refresh(api, alone);
    expect(home_group_id).not.toBe(alone.home_group_id);
    expect(await groupOf(home_group_id)).toMatchObject({
      account_type: 'HOME',
      owner_id: alone.user_id,
      member_count: 1,
    });
    const late = await accept(api, await newSession(api), invite);
    expect([late.status, late.json.error_code]).toEqual([410, 'ERR-INVITE-TOKEN-INVALID']);
  });
});

describe('a removal of a member', () => {
  test('a removal is as if that member had left', async () => {
    const { owner, member } = await newHousehold();
    const answer = await removeMember(api, owner, member.user_id.toUpperCase());
    expect(answer.status).toBe(200);
    const { user_id } = member;
    expect(answer.json.data).toEqual({ message: 'MEMBER_REMOVED', user_id, invites_revoked: 1, timestamp });
    expect(await currentGroup(api, member)).toMatchObject({ status: 401, json: invalid });
    const home = (await currentGroup(api, await refresh(api, member))).json.data;
    expect(home).toMatchObject({ account_type: 'HOME', role: 'owner', members: [{ user_id: member.user_id }] });
    expect((await currentGroup(api, owner)).json.data.members).toHaveLength(1);
  });

  const stored = (_id: string) => api.collections.invites.findOne({ _id });
  const revokedBy = async (owner: Caller, userId: string) =>
    (await removeMember(api, owner, userId)).json.data.invites_revoked;

  // guarantees: removed-member-stays-out
  test.each<[string, (invite: string) => Promise<Account & TokenPair>]>([
    ['registration', (invite) => joinByInvite(api, invite)],
    [
      'moving in',
      async (invite) => {
        const mover = await newSession(api);
        expect((await accept(api, mover, invite.toUpperCase())).status).toBe(200);
        return mover;
      },
    ],
  ])(
    'a removal ends the invite that brought the member by %s, and no other, so that they do not come back by it',
    async (_, join) => {
      const owner = await newSession(api);
      const [invite, other] = [
        await insertInvite(api, owner.home_group_id),
        await insertInvite(api, owner.home_group_id),
      ];
      const member = await join(invite);
      expect(await api.collections.users.findOne({ _id: member.user_id })).toMatchObject({ joined_by: invite });
      expect(await revokedBy(owner, member.user_id)).toBe(1);
      expect([(await stored(invite))?.revoked_at, (await stored(other))?.revoked_at]).toEqual([expect.any(Date), null]);
      expect(await api.collections.users.findOne({ _id: member.user_id })).not.toHaveProperty('joined_by');
      const back = await refresh(api, member);
      expect((await accept(api, back, invite)).status).toBe(410);
      // A user who comes back by another invite is a member like any other.
      expect((await accept(api, back, other)).status).toBe(200);
      expect(await revokedBy(owner, member.user_id)).toBe(1);
      expect((await stored(other))?.revoked_at).toEqual(expect.any(Date));
    },
  );

  test('a removal ends no invite that is over, none that is not remembered, and none of a member who moved on', async () => {
    const owner = await newSession(api);
    const { home_group_id } = owner;
    const last = await joinByInvite(api, await insertInvite(api, home_group_id, { max_uses: 1 }));
    expect(await revokedBy(owner, last.user_id)).toBe(0);
    const invite = await insertInvite(api, home_group_id);
    const early = await joinByInvite(api, invite);
    await api.collections.users.updateOne({ _id: early.user_id }, { $unset: { joined_by: true } });
    expect(await revokedBy(owner, early.user_id)).toBe(0);
    const gone = await joinByInvite(api, invite);
    expect((await leave(api, gone)).status).toBe(200);
    expect(await api.collections.users.findOne({ _id: gone.user_id })).not.toHaveProperty('joined_by');
    expect((await stored(invite))?.revoked_at).toBeNull();
    expect(await revokedBy(owner, owner.user_id)).toBe(0);
  });
});

// guarantees: group-of-token
test('with a complete deny list the old tokens are refused by Redis alone, and the new ones are good', async () => {
  const redis = new Redis(testEnvironment().redisUrl);
  const denyList = createDenyList(redis, redisKeys(api.keyPrefix), denialLifetimeMs(600));
  await (await denyList.beginRebuild()).complete();
  try {
    await untilUnchanged(
      () => api.metric('auth_deny_list_fallbacks_total'),
      async () => {
        const { member } = await newHousehold();
        await leave(api, member);
        expect(await denyList.find([member.session_id])).toEqual([{ kind: 'below', ver: 2 }]);
        expect((await currentGroup(api, member)).status).toBe(401);
        expect((await currentGroup(api, await refresh(api, member))).status).toBe(200);
      },
    );
  } finally {
    await redis.del(redisKeys(api.keyPrefix).denyListComplete);
    redis.disconnect();
  }
});

test('a user who has closed a group by leaving it owns it no longer, even if Redis has lost the change', async () => {
  const redis = new Redis(testEnvironment().redisUrl);
  const keys = redisKeys(api.keyPrefix);
  const denyList = createDenyList(redis, keys, denialLifetimeMs(600));
  await (await denyList.beginRebuild()).complete();
  try {
    const [host, mover] = [await newSession(api), await newSession(api)];
    expect((await accept(api, mover, await insertInvite(api, host.home_group_id))).status).toBe(200);
    expect((await groupOf(mover.home_group_id))?.closed_at).toBeInstanceOf(Date);
    await redis.del(keys.denied(mover.session_id));
    expect(await removeMember(api, mover, host.user_id)).toMatchObject({ status: 401, json: invalid });
  } finally {
    await redis.del(keys.denyListComplete);
    redis.disconnect();
  }
});

// guarantees: group-of-token
test('with Redis away, MongoDB knows the version of a token that is good', async () => {
  const own = await startTestApi({ REDIS_URL: 'redis://127.0.0.1:1' });
  try {
    const [owner, mover] = [await newSession(own), await newSession(own)];
    expect((await accept(own, mover, await insertInvite(own, owner.home_group_id))).status).toBe(200);
    expect((await currentGroup(own, mover)).status).toBe(401);
    expect((await currentGroup(own, await refresh(own, mover))).status).toBe(200);
    expect(await own.metric('auth_revocation_announcements_lost_total')).toBe(1);
  } finally {
    await own.close();
  }
});

// guarantees: move-voids-claims
test('a token of the group that was left can do nothing there', async () => {
  const { owner, member } = await newHousehold();
  await leave(api, owner);
  for (const answer of [await removeMember(api, owner, member.user_id), await leave(api, owner)]) {
    expect(answer).toMatchObject({ status: 401, json: invalid });
  }
  const sessions = await api.listSessions(bearer(owner));
  expect(sessions.status).toBe(401);
});

test('the stores are sound after all tests of groups', () => expectSound(api));
