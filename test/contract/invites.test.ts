import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type Account,
  logIn,
  newEmail,
  newSession,
  password,
  registerAccount,
  type TokenPair,
} from '../support/api/accounts.ts';
import { bearer } from '../support/api/api-driver.ts';
import { joinByInvite } from '../support/api/groups.ts';
import { joinBy, newInvite } from '../support/api/invites.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import type { Answer } from '../support/http-client.ts';

const path = '/api/v1/invites';
const daySeconds = 86_400;

let api: TestApi;
let owner: Account & TokenPair;
beforeAll(async () => {
  api = await startTestApi();
  owner = await newSession(api);
});
afterAll(() => api.close());

const create = (body: object, by: TokenPair = owner, headers = {}) =>
  api.createInvite(body, { ...bearer(by), ...headers });
const list = (by: TokenPair = owner) => api.listInvites(bearer(by));
const revoke = (token: string, by: TokenPair = owner) => api.revokeInvite({ token }, bearer(by));
const look = (token: string) => api.findInvite({ token });
const stored = (token: string) => api.collections.invites.findOne({ _id: token });
const change = (token: string, fields: object) => api.collections.invites.updateOne({ _id: token }, { $set: fields });
const expire = (token: string) => change(token, { expires_at: new Date(Date.now() - 1) });

function expectError(answer: Answer, status: number, code: string): void {
  expect([answer.status, answer.json.error_code]).toEqual([status, code]);
}

describe('POST /api/v1/invites', () => {
  test('an invite is for a week and any number of people, if nothing else is asked for', async () => {
    const before = Date.now();
    const answer = await create({});
    expect(answer.status).toBe(201);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.headers['idempotency-replayed']).toBeUndefined();
    const { data } = answer.json;
    expect(data).toEqual({
      invite_token: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      account_type: 'HOME',
      expires_at: expect.any(String),
      valid: true,
      reason: null,
      max_uses: null,
      uses: 0,
      created_by: owner.user_id,
      created_at: data.timestamp,
      revoked_at: null,
      timestamp: expect.any(String),
    });
    expect(Date.parse(data.expires_at) - Date.parse(data.created_at)).toBe(7 * daySeconds * 1_000);
    expect(Date.parse(data.created_at)).toBeGreaterThanOrEqual(before);
    expect(await stored(data.invite_token)).toMatchObject({ home_group_id: owner.home_group_id, max_uses: null });
  });

  test.each([
    [{ expires_in: 60, max_uses: 1 }, 60, 1],
    [{ expires_in: 30 * daySeconds, max_uses: null }, 30 * daySeconds, null],
    [{ max_uses: 2_147_483_647, unknown: 'field' }, 7 * daySeconds, 2_147_483_647],
  ])('POST /invites takes %j', async (body, seconds, maxUses) => {
    const { data } = (await create(body)).json;
    expect(Date.parse(data.expires_at) - Date.parse(data.created_at)).toBe(seconds * 1_000);
    expect(data.max_uses).toBe(maxUses);
    expect(Object.keys((await stored(data.invite_token)) ?? {})).not.toContain('unknown');
  });

  test.each([
    ['expires_in', 59, 'greater_than_equal'],
    ['expires_in', 30 * daySeconds + 1, 'less_than_equal'],
    ['expires_in', 60.5, 'int_type'],
    ['expires_in', '3600', 'int_type'],
    ['max_uses', 0, 'greater_than_equal'],
    ['max_uses', -1, 'greater_than_equal'],
    ['max_uses', 2_147_483_648, 'less_than_equal'],
    ['max_uses', 1.5, 'int_type'],
    ['max_uses', '1', 'int_type'],
    ['max_uses', { $gt: 0 }, 'int_type'],
  ])('POST /invites refuses %s %j with %s', async (field, value, type) => {
    const answer = await create({ [field]: value });
    expectError(answer, 422, 'ERR-VALIDATION-FAILED');
    expect(answer.json.details).toEqual([{ loc: ['body', field], msg: expect.any(String), type }]);
  });

  test('an invite into an office has the type of an office', async () => {
    const email = newEmail();
    await api.registerAccount({ email, password, space_creation_mode: 'CREATE_NEW_OFFICE' });
    const manager = await logIn(api, email);
    const { data } = (await create({}, manager)).json;
    expect(data.account_type).toBe('OFFICE');
    expect((await look(data.invite_token)).json.data.account_type).toBe('OFFICE');
    expect((await joinBy(api, data.invite_token)).json.data).toMatchObject({
      account_type: 'OFFICE',
      home_group_id: manager.home_group_id,
    });
  });

  test('a token of a group that the caller has left is useless for whatever only its owner may do', async () => {
    const former = await newSession(api);
    const { home_group_id } = former;
    const token = await newInvite(api, former);
    const setGroup = (group: string) =>
      api.collections.users.updateOne({ _id: former.user_id }, { $set: { home_group_id: group } });
    const setOwner = (owner_id: string) =>
      api.collections.groups.updateOne({ _id: home_group_id }, { $set: { owner_id } });
    // As after a change of group of which neither the deny list nor the session knows.
    await setOwner(randomUUID());
    await setGroup(randomUUID());
    const answers = [await create({}, former), await list(former), await revoke(token, former)];
    answers.push(await api.removeMember({ user_id: randomUUID() }, bearer(former)));
    answers.push(await api.acceptInvite({ token }, bearer(former)));
    for (const answer of answers) expectError(answer, 401, 'IAD_JWT_ACCESS_INVALID');
    await setGroup(home_group_id);
    await setOwner(former.user_id);
  });

  test('a group has 100 valid invites at most; one that is over no longer counts', async () => {
    const crowded = await newSession(api);
    const first = await newInvite(api, crowded, { max_uses: 1 });
    const invite = await stored(first);
    if (invite === null) throw new Error('no invite');
    const others = Array.from({ length: 99 }, () => ({ ...invite, _id: randomUUID() }));
    await api.collections.invites.insertMany(others);
    const refused = await create({}, crowded);
    expectError(refused, 409, 'ERR-INVITE-LIMIT-REACHED');
    expect(refused.json.details).toEqual({ limit: 100, action: expect.any(String) });
    const [used = '', expired = '', revoked = ''] = others.map(({ _id }) => _id);
    expect((await joinBy(api, used)).status).toBe(201);
    await expire(expired);
    await revoke(revoked, crowded);
    for (let i = 0; i < 3; i += 1) expect((await create({}, crowded)).status).toBe(201);
    expect((await create({}, crowded)).status).toBe(409);
    // Each group has its own limit.
    expect((await create({})).status).toBe(201);
  });

  test('a user makes a limited number of invites within an hour, revoked or not; a replay does not count', async () => {
    const strict = await startTestApi({ INVITE_CREATE_LIMIT_PER_USER: '2' });
    try {
      const [eager, other] = [await newSession(strict), await newSession(strict)];
      const invite = (by: TokenPair, key: string) => strict.createInvite({}, { ...bearer(by), 'Idempotency-Key': key });
      for (const key of ['one', 'two']) {
        const { status, json } = await invite(eager, key);
        expect(status).toBe(201);
        const { invite_token } = json.data;
        await strict.revokeInvite({ token: invite_token }, bearer(eager));
      }
      expect((await invite(eager, 'one')).status).toBe(201);
      const refused = await invite(eager, 'three');
      expectError(refused, 429, 'ERR-RATE-LIMITED');
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3_000);
      expect((await invite(other, 'one')).status).toBe(201);
    } finally {
      await strict.close();
    }
  });
});

describe('GET /api/v1/invites', () => {
  test('GET /invites lists the group’s invites with their state, the newest first', async () => {
    const own = await newSession(api);
    const tokens: string[] = [];
    for (const fields of [{}, {}, { max_uses: 1 }, { max_uses: 2 }]) tokens.push(await newInvite(api, own, fields));
    const [expired = '', revoked = '', used = '', good = ''] = tokens;
    await expire(expired);
    await revoke(revoked, own);
    for (const token of [used, good]) expect((await joinBy(api, token)).status).toBe(201);
    const answer = await list(own);
    expect(answer.status).toBe(200);
    expect(answer.headers['cache-control']).toBe('no-store');
    const { invites, has_more } = answer.json.data;
    const summary = invites.map(({ invite_token, valid, reason, uses }: Record<string, unknown>) => [
      invite_token,
      valid,
      reason,
      uses,
    ]);
    expect(summary).toEqual([
      [good, true, null, 1],
      [used, false, 'used_up', 1],
      [revoked, false, 'revoked', 0],
      [expired, false, 'expired', 0],
    ]);
    expect(invites.map(({ revoked_at }: { revoked_at: unknown }) => typeof revoked_at)).toEqual([
      'object',
      'object',
      'string',
      'object',
    ]);
    expect(has_more).toBe(false);
  });

  test('GET /invites leaves out no valid invite, and of those that are over all but the 100 newest', async () => {
    const own = await newSession(api);
    const good = await newInvite(api, own);
    const invite = await stored(good);
    if (invite === null) throw new Error('no invite');
    await change(good, { created_at: new Date(invite.created_at.getTime() - daySeconds) });
    const at = (i: number) => new Date(invite.created_at.getTime() + i);
    const over = Array.from({ length: 101 }, (_, i) => ({
      ...invite,
      _id: randomUUID(),
      created_at: at(i),
      revoked_at: at(i),
    }));
    await api.collections.invites.insertMany(over);
    const { invites, has_more } = (await list(own)).json.data;
    const listed = invites.map(({ invite_token }: { invite_token: string }) => invite_token);
    const newest = over.slice(1).map(({ _id }) => _id);
    expect(listed).toEqual([...newest.reverse(), good]);
    expect(has_more).toBe(true);
  });
});

// answers: better-auth CVE-2026-53514, https://github.com/advisories/GHSA-fmh4-wcc4-5jm3
// An account accepted the invite of an email address that it had registered and never verified.
test('an invite is for nobody’s email address: who has registered a guest’s email address gets no invite by that', async () => {
  const guest = newEmail();
  const token = await newInvite(api, await newSession(api), { email: guest });
  expect(JSON.stringify(await stored(token))).not.toContain(guest);
  await registerAccount(api, guest);
  const squatter = await logIn(api, guest);
  expect((await list(squatter)).json.data.invites).toEqual([]);
  expectError(await list(await joinByInvite(api, token)), 403, 'ERR-GROUP-OWNER-REQUIRED');
});

describe('DELETE /api/v1/invites/{token}', () => {
  test('DELETE /invites/{token} revokes the invite, and answers the same when it is sent again', async () => {
    const token = await newInvite(api, owner);
    const first = await revoke(token);
    expect(first.status).toBe(200);
    const { timestamp, ...data } = first.json.data;
    expect(data).toMatchObject({ invite_token: token, valid: false, reason: 'revoked', revoked_at: timestamp });
    const again = await revoke(token.toUpperCase());
    expect(again.status).toBe(200);
    expect(again.json.data).toEqual({ ...data, timestamp: expect.any(String) });
    const late = await joinBy(api, token);
    expectError(late, 410, 'ERR-INVITE-TOKEN-INVALID');
    expect(late.headers['x-error-code']).toBeUndefined();
  });

  test('members who have joined by an invite stay when it is revoked', async () => {
    const token = await newInvite(api, owner);
    const { user_id } = (await joinBy(api, token)).json.data;
    expect((await revoke(token)).json.data.uses).toBe(1);
    expect(await api.collections.users.findOne({ _id: user_id })).toMatchObject({
      home_group_id: owner.home_group_id,
      role: 'member',
    });
  });

  test.each([
    ['has expired', 'expired', expire],
    ['is used up', 'used_up', (token: string) => change(token, { max_uses: 1, uses: 1 })],
  ])('an invite that %s stays what it is when it is revoked', async (_, reason, end) => {
    const token = await newInvite(api, owner);
    await end(token);
    const answer = await revoke(token);
    expect(answer.status).toBe(200);
    expect(answer.json.data).toMatchObject({ valid: false, reason, revoked_at: null });
    expect((await stored(token))?.revoked_at).toBeNull();
  });

  // guarantees: other-groups-invites
  test('a revocation of another group’s invite answers 404, and the invite stays valid', async () => {
    const token = await newInvite(api, await newSession(api));
    const answer = await revoke(token);
    expectError(answer, 404, 'ERR-INVITE-TOKEN-INVALID');
    expect(answer.json.details.provided_token).toBe(token);
    expect((await stored(token))?.revoked_at).toBeNull();
  });

  test('only the owner revokes invites, whatever the token', async () => {
    const member = await joinByInvite(api, await newInvite(api, owner));
    const token = await newInvite(api, owner);
    for (const each of [token, 'none']) expectError(await revoke(each, member), 403, 'ERR-GROUP-OWNER-REQUIRED');
    expect((await stored(token))?.revoked_at).toBeNull();
  });
});

describe('GET /api/v1/invites/{token}', () => {
  // guarantees: other-groups-invites
  test('an invite shows anybody what it leads to, and nothing of its owner', async () => {
    const { data } = (await create({ max_uses: 3 })).json;
    const answer = await look(data.invite_token.toUpperCase());
    expect(answer.status).toBe(200);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.json.data).toEqual({
      account_type: 'HOME',
      expires_at: data.expires_at,
      valid: true,
      reason: null,
      group_name: null,
      invited_by: null,
      timestamp: expect.any(String),
    });
    for (const known of [owner.email, owner.user_id, owner.home_group_id]) expect(answer.text).not.toContain(known);
  });

  test.each([randomUUID(), 'none', '$ne', '\0', 'x'.repeat(2_000)])(
    'the preview of what names no invite (%#) answers 404',
    async (token) => {
      const answer = await look(token);
      expectError(answer, 404, 'ERR-INVITE-TOKEN-INVALID');
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(answer.json.details.provided_token).toBe(decodeURIComponent(token));
    },
  );
});

describe('the paths of invites', () => {
  test.each([
    ['PUT', path, 'GET, HEAD, POST'],
    ['POST', `${path}/none`, 'DELETE, GET, HEAD'],
  ])('%s %s answers 405', async (method, each, allowed) => {
    const answer = await api.send({ method, path: each, body: {} });
    expect(answer.status).toBe(405);
    expect(answer.headers.allow?.split(', ').sort().join(', ')).toBe(allowed);
  });
});

test('an invite stays for at least 30 days after its end', async () => {
  const indexes = await api.collections.invites.indexes();
  // An invite ends when it expires or earlier.
  expect(indexes).toContainEqual(
    expect.objectContaining({ key: { expires_at: 1 }, expireAfterSeconds: 30 * daySeconds }),
  );
});
