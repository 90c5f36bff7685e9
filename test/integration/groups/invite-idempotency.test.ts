import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newSession, type TokenPair } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { leave, refresh } from '../../support/api/groups.ts';
import { joinBy } from '../../support/api/invites.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';

let api: TestApi;
/** Another pod of the same deployment. */
let other: TestApi;
let owner: TokenPair & { readonly user_id: string };
beforeAll(async () => {
  api = await startTestApi();
  other = await api.beside();
  owner = await newSession(api);
});
afterAll(() => api.close());

const create = (body: object, key: string, { by = owner, on = api }: { by?: TokenPair; on?: TestApi } = {}) =>
  on.createInvite(body, { ...bearer(by), 'Idempotency-Key': key });
const countOf = (home_group_id: string) => api.collections.invites.countDocuments({ home_group_id });

test('a retry with the same key and body gets the first invite again, on any pod', async () => {
  const [body, key, before] = [{ max_uses: 3 }, randomUUID(), await countOf(owner.home_group_id)];
  const first = await create(body, key);
  const [again, elsewhere] = [await create(body, key), await create(body, key, { on: other })];
  expect([first.status, again.status, elsewhere.status]).toEqual([201, 201, 201]);
  expect(first.headers['idempotency-replayed']).toBeUndefined();
  for (const replay of [again, elsewhere]) {
    expect(replay.json).toEqual(first.json);
    expect(replay.headers['idempotency-replayed']).toBe('true');
    expect(replay.headers['cache-control']).toBe('no-store');
  }
  expect(await countOf(owner.home_group_id)).toBe(before + 1);
  expect((await joinBy(api, again.json.data.invite_token)).status).toBe(201);
});

test('the Idempotency-Key of one owner is another key for another owner', async () => {
  const [key, neighbour] = [randomUUID(), await newSession(api)];
  const [mine, theirs] = [await create({}, key), await create({}, key, { by: neighbour })];
  expect([mine.status, theirs.status]).toEqual([201, 201]);
  expect(theirs.json.data.invite_token).not.toBe(mine.json.data.invite_token);
});

test('the Idempotency-Key of an invitation is another key for a registration', async () => {
  const key = randomUUID();
  await create({}, key);
  const answer = await api.registerAccount(
    { email: `${randomUUID()}@example.com`, password: 'correct horse battery', space_creation_mode: 'CREATE_NEW_HOME' },
    { 'Idempotency-Key': key },
  );
  expect([answer.status, answer.headers['idempotency-replayed']]).toEqual([201, undefined]);
});

test('a user who has moved to another group meanwhile gets no invite by the old key, into neither group', async () => {
  const own = await newSession(api);
  const key = randomUUID();
  const email = `${randomUUID()}@example.com`;
  const first = await create({}, key, { by: own });
  // A second member, so that the group goes on without its owner.
  expect((await joinBy(api, first.json.data.invite_token, email)).status).toBe(201);
  expect((await leave(api, own)).status).toBe(200);
  const moved = { ...own, ...(await refresh(api, own)) };
  expect(moved.home_group_id).not.toBe(own.home_group_id);
  const answer = await create({}, key, { by: moved });
  expect([answer.status, answer.json.error_code]).toEqual([422, 'ERR-IDEMPOTENCY-KEY-REUSED']);
  expect(await countOf(moved.home_group_id)).toBe(0);
});
