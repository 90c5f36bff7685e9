import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newSession, registerAccount } from '../support/api/accounts.ts';
import { bearer, type Caller } from '../support/api/api-driver.ts';
import { currentGroup, insertInvite, joinByInvite } from '../support/api/groups.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const rename = (caller: Caller, body: object) => api.renameGroup(body, bearer(caller));
const introduce = (caller: Caller, body: object) => api.changeAccount(body, bearer(caller));
const look = async (token: string) => (await api.findInvite({ token })).json.data;

async function newHousehold() {
  const owner = await newSession(api);
  const invite = await insertInvite(api, owner.home_group_id);
  return { owner, invite, member: await joinByInvite(api, invite) };
}

describe('the name of a group', () => {
  test('the name of a group is what its owner sets, and all members see it', async () => {
    const { owner, member } = await newHousehold();
    const answer = await rename(owner, { name: 'Улица Садовая 🏡' });
    expect(answer.status).toBe(200);
    expect(answer.json.data).toMatchObject({ name: 'Улица Садовая 🏡', role: 'owner' });
    const seen = (await currentGroup(api, member)).json.data;
    expect({ ...seen, role: 'owner', timestamp: 0 }).toEqual({ ...answer.json.data, timestamp: 0 });
    expect((await rename(owner, { name: null })).json.data.name).toBeNull();
    expect(await api.collections.groups.findOne({ _id: owner.home_group_id })).not.toHaveProperty('name');
  });

  test('only the owner sets the name of a group', async () => {
    const { owner, member } = await newHousehold();
    const answer = await rename(member, { name: 'Mine' });
    expect([answer.status, answer.json.error_code]).toEqual([403, 'ERR-GROUP-OWNER-REQUIRED']);
    expect((await currentGroup(api, owner)).json.data.name).toBeNull();
  });

  test('a name from before the rules is shown as it is stored, a group’s and a person’s', async () => {
    const { owner, invite } = await newHousehold();
    const [name, display_name] = ['\u3164', 'Anna\u202e'];
    await api.collections.groups.updateOne({ _id: owner.home_group_id }, { $set: { name } });
    await api.collections.users.updateOne({ _id: owner.user_id }, { $set: { display_name } });
    const { json } = await currentGroup(api, owner);
    expect(json.data).toMatchObject({ name, members: [{ display_name }, {}] });
    expect(await look(invite)).toMatchObject({ group_name: name, invited_by: display_name });
  });
});

test.each([
  [{}, 'missing'],
  [{ name: 'x'.repeat(65) }, 'string_too_long'],
  [{ name: '\u3164' }, 'string_pattern_mismatch'],
])('the name of a group is not %j', async (body, type) => {
  const answer = await rename(await newSession(api), body);
  expect(answer.status).toBe(422);
  expect(answer.json.details).toContainEqual({ loc: ['body', 'name'], msg: expect.any(String), type });
});

describe('the name of a person', () => {
  test('the preview of an invite has the names of the person and the group, and nothing else of them', async () => {
    const { owner, invite } = await newHousehold();
    expect(await look(invite)).toMatchObject({ group_name: null, invited_by: null });
    await introduce(owner, { display_name: 'Anna' });
    await rename(owner, { name: 'Garden Street' });
    const shown = await look(invite);
    expect(shown).toMatchObject({ group_name: 'Garden Street', invited_by: 'Anna', valid: true });
    for (const known of [owner.email, owner.user_id, owner.home_group_id]) {
      expect(JSON.stringify(shown)).not.toContain(known);
    }
  });

  test('the preview of an invite has no name of a person whose account is gone', async () => {
    const { user_id, home_group_id } = await registerAccount(api);
    const invite = await insertInvite(api, home_group_id);
    await api.collections.users.deleteOne({ _id: user_id });
    expect(await look(invite)).toMatchObject({ group_name: null, invited_by: null, valid: true });
  });
});
