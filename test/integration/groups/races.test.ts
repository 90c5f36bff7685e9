import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type Account,
  logIn,
  logOut,
  newEmail,
  newSession,
  password,
  registerAccount,
  type TokenPair,
} from '../../support/api/accounts.ts';
import { bearer, drive } from '../../support/api/api-driver.ts';
import {
  accept,
  currentGroup,
  expectSound,
  insertInvite,
  joinByInvite,
  leave,
  refresh,
  removeMember,
} from '../../support/api/groups.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';
import type { Answer } from '../../support/http-client.ts';

/** Number of runs of each race, because chance decides the winner. `RACE_ROUNDS` sets another number. */
const rounds = Number(process.env.RACE_ROUNDS ?? 4);

type Person = Account & TokenPair;

let api: TestApi;
beforeAll(async () => {
  api = patient(await startTestApi());
});
afterEach(() => expectSound(api));
afterAll(() => api.close());

/** Returns the api for a client that repeats what got 503: on a busy machine a request may wait too long for others. */
function patient(given: TestApi): TestApi {
  return { ...given, ...drive((request) => given.send(request)) };
}

async function repeat(race: () => Promise<void>): Promise<void> {
  for (let round = 0; round < rounds; round += 1) await race();
}

async function inviteOf({ home_group_id }: Pick<Person, 'home_group_id'>, fields: object = {}): Promise<string> {
  return insertInvite(api, home_group_id, fields);
}

/** Creates a household. Returns its owner first, then its members in the order in which they joined. */
async function household(size: number): Promise<[Person, ...Person[]]> {
  const owner = await newSession(api);
  const invite = await inviteOf(owner);
  const members: Person[] = [];
  while (members.length < size - 1) members.push(await joinByInvite(api, invite));
  return [owner, ...members];
}

/** Accepts an invite twice at once for one user. Returns first the answer to the request that moved the user. */
async function doubleTap(): Promise<[Answer, Answer]> {
  const [target, mover] = [await newSession(api), await newSession(api)];
  const invite = await inviteOf(target, { max_uses: 1 });
  const [one, two] = await Promise.all([accept(api, mover, invite), accept(api, mover, invite)]);
  return one.status === 200 ? [one, two] : [two, one];
}

const groupOf = async (userId: string) => (await api.collections.users.findOne({ _id: userId }))?.home_group_id;
const statusesOf = (answers: readonly Answer[]) => answers.map(({ status }) => status).sort();

/** Asserts that an app that can only refresh is in its user's present group, whatever happened before. */
async function expectAtHome({ user_id, ...tokens }: Person): Promise<void> {
  const home_group_id = await groupOf(user_id);
  const answer = await currentGroup(api, await refresh(api, tokens));
  expect([answer.status, answer.json.data?.home_group_id]).toEqual([200, home_group_id]);
}

/** Asserts that a token is accepted only if its claims are current. */
async function expectNoStaleToken(userId: string, tokens: readonly TokenPair[]): Promise<void> {
  const home_group_id = await groupOf(userId);
  for (const each of tokens) {
    const answer = await currentGroup(api, each);
    const isOld = each.home_group_id !== home_group_id;
    if (isOld) expect(answer.json.error_code).toBe('IAD_JWT_ACCESS_INVALID');
    else if (answer.status === 200) expect(answer.json.data.home_group_id).toBe(home_group_id);
  }
}

describe('requests during a move', () => {
  // guarantees: no-old-claims-after-move
  test('logins during a move get no claims of the group that was left', () =>
    repeat(async () => {
      const [target, mover] = await Promise.all([newSession(api), newSession(api)]);
      const invite = await inviteOf(target);
      const logins = Array.from({ length: 4 }, () => logIn(api, mover.email));
      const [moved, ...sessions] = await Promise.all([accept(api, mover, invite), ...logins]);
      expect(moved.status).toBe(200);
      await expectNoStaleToken(mover.user_id, sessions);
      for (const session of sessions) await expectAtHome({ ...mover, ...session });
    }));

  test('logins in the very millisecond of a move conflict with it, although they write nothing new', async () => {
    const time = Date.now();
    const still = patient(await startTestApi({}, { now: () => time }));
    try {
      for (let round = 0; round < rounds; round += 1) {
        const [target, mover] = await Promise.all([newSession(still), newSession(still)]);
        const invite = await insertInvite(still, target.home_group_id);
        const logins = Array.from({ length: 4 }, () => logIn(still, mover.email));
        const [moved] = await Promise.all([accept(still, mover, invite), ...logins]);
        expect(moved.status).toBe(200);
      }
      await expectSound(still);
    } finally {
      await still.close();
    }
  });

  // guarantees: no-old-claims-after-move
  test('refreshes during a move hand out tokens that are valid or refused, and the next refresh is in the new group', () =>
    repeat(async () => {
      const [target, mover] = await Promise.all([newSession(api), newSession(api)]);
      const invite = await inviteOf(target);
      const tablet = { ...mover, ...(await logIn(api, mover.email)) };
      const refreshes = [mover, mover, tablet, tablet].map((device) => refresh(api, device));
      const [moved, ...pairs] = await Promise.all([accept(api, mover, invite), ...refreshes]);
      expect(moved.status).toBe(200);
      await expectNoStaleToken(mover.user_id, pairs);
      for (const device of [mover, tablet]) await expectAtHome(device);
    }));

  test('a logout of another device during a move ends that session', () =>
    repeat(async () => {
      const [target, mover] = await Promise.all([newSession(api), newSession(api)]);
      const tablet = await logIn(api, mover.email);
      const invite = await inviteOf(target);
      const [moved, loggedOut] = await Promise.all([accept(api, mover, invite), logOut(api, tablet)]);
      expect([moved.status, loggedOut.status]).toEqual([200, 200]);
      expect((await currentGroup(api, tablet)).status).toBe(401);
      await expectAtHome(mover);
    }));

  test('a logout of all devices during a move leaves no session alive in either group', () =>
    repeat(async () => {
      const [target, mover] = await Promise.all([newSession(api), newSession(api)]);
      const invite = await inviteOf(target);
      const logOutAll = api.logOutAll({}, bearer(mover));
      const [moved, loggedOut] = await Promise.all([accept(api, mover, invite), logOutAll]);
      expect([200, 401]).toContain(moved.status);
      expect([200, 401]).toContain(loggedOut.status);
      const live = await api.collections.sessions.countDocuments({ user_id: mover.user_id, is_revoked: false });
      expect(live).toBe(loggedOut.status === 200 ? 0 : 1);
    }));

  test('other moves of the same user take place one after the other, or are refused as out of date', () =>
    repeat(async () => {
      const [one, two, mover] = await Promise.all([newSession(api), newSession(api), newSession(api)]);
      const [first, second] = [await inviteOf(one), await inviteOf(two)];
      const answers = await Promise.all([
        accept(api, mover, first),
        accept(api, mover, second),
        accept(api, mover, first),
        leave(api, mover),
      ]);
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      for (const { status, json } of answers) {
        if (status !== 200) expect([status, json.error_code]).toEqual([401, 'IAD_JWT_ACCESS_INVALID']);
      }
      await expectAtHome(mover);
    }));
});

describe('an invite', () => {
  test('an invite for one that is accepted twice at once moves the user once, and the other request is out of date', async () => {
    const pairs = await Promise.all(Array.from({ length: 20 }, () => doubleTap()));
    for (const [{ status }, late] of pairs) {
      expect([status, late.status, late.json.error_code]).toEqual([200, 401, 'IAD_JWT_ACCESS_INVALID']);
    }
  });

  // guarantees: no-join-of-closing-group
  test('an invite into a group whose last member is just leaving makes the new member its owner, or is refused', () =>
    repeat(async () => {
      const [last, mover, elsewhere] = await Promise.all([newSession(api), newSession(api), newSession(api)]);
      const [invite, signInMethod] = [await inviteOf(last), await inviteOf(elsewhere)];
      const email = newEmail();
      const body = { email, password, space_creation_mode: 'JOIN_EXISTING', invite_token: invite };
      const [left, moved, registered] = await Promise.all([
        accept(api, last, signInMethod),
        accept(api, mover, invite),
        api.registerAccount(body),
      ]);
      expect(left.status).toBe(200);
      expect([200, 410]).toContain(moved.status);
      expect([201, 410]).toContain(registered.status);
      const group = await api.collections.groups.findOne({ _id: last.home_group_id });
      const came = [moved, registered].filter(({ status }) => status < 300).length;
      expect([group?.member_count, group?.closed_at === null]).toEqual([came, came > 0]);
      await expectAtHome(mover);
    }));
});

describe('a household', () => {
  test('a household that all leave at once is closed, and each has a household of their own', () =>
    repeat(async () => {
      const people = await household(3);
      const answers = await Promise.all(people.map((person) => leave(api, person)));
      expect(statusesOf(answers)).toEqual([200, 200, 200]);
      const [{ home_group_id }] = people;
      const group = await api.collections.groups.findOne({ _id: home_group_id });
      expect(group).toMatchObject({ member_count: 0, closed_at: expect.any(Date) });
      expect(new Set(await Promise.all(people.map(({ user_id }) => groupOf(user_id)))).size).toBe(3);
      for (const person of people) await expectAtHome(person);
    }));

  // guarantees: group-owner-and-invites
  test('a household has the right owner if its owner removes a leaving member and leaves too', () =>
    repeat(async () => {
      const [owner, member, third] = await household(3);
      if (member === undefined || third === undefined) throw new Error('the household is too small');
      const [removed, left, gone] = await Promise.all([
        removeMember(api, owner, member.user_id),
        leave(api, member),
        leave(api, owner),
      ]);
      expect([200, 401, 403, 404]).toContain(removed.status);
      expect([left.status, removed.status]).toContain(200);
      expect(gone.status).toBe(200);
      expect(await groupOf(third.user_id)).toBe(owner.home_group_id);
      const group = await api.collections.groups.findOne({ _id: owner.home_group_id });
      expect(group).toMatchObject({ owner_id: third.user_id, member_count: 1, closed_at: null });
      for (const person of [owner, member, third]) await expectAtHome(person);
    }));

  // guarantees: one-group-per-account
  test('a household stays consistent while its members come, go and log in at once', async () => {
    const people = await household(4);
    const [owner] = people;
    const invite = await inviteOf(owner);
    const otherUsers = await Promise.all(Array.from({ length: 3 }, () => newSession(api)));
    const accounts = await Promise.all(Array.from({ length: 2 }, () => registerAccount(api)));
    await Promise.all([
      ...people.map((person) => leave(api, person)),
      ...people.map(({ email }) => logIn(api, email)),
      ...people.map((person) => refresh(api, person)),
      ...otherUsers.map((otherUser) => accept(api, otherUser, invite)),
      ...accounts.map(async ({ email }) => accept(api, await logIn(api, email), invite)),
    ]);
    for (const person of [...people, ...otherUsers]) await expectAtHome(person);
  });
});
