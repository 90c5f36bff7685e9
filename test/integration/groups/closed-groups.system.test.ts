import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startMongo, waitUntil } from '@auth-account/local-stack';
import { collectionsOf, ensureIndexes, missingIndexes } from '@auth-account/stores';
import type { GroupDocument } from '@auth-account/stores/documents';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { newSession } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { accept, currentGroup, insertInvite, leave, refresh, removeMember } from '../../support/api/groups.ts';
import { joinBy } from '../../support/api/invites.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';

const dayMs = 86_400_000;

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

// guarantees: move-limit
test('a closed group’s document is deleted 30 days later, and no other', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'closed-groups-'));
  // Removes expired documents each second, not each minute.
  const mongo = await startMongo({ dir, setParameters: { ttlMonitorSleepSecs: '1' }, log: () => undefined });
  const client = new MongoClient(mongo.uri);
  try {
    const db = client.db('auth');
    await ensureIndexes(db);
    const { groups } = collectionsOf(db);
    const group = (daysAgo: number | undefined): GroupDocument => ({
      _id: randomUUID(),
      account_type: 'HOME',
      owner_id: randomUUID(),
      member_count: daysAgo === undefined ? 1 : 0,
      created_at: new Date(0),
      closed_at: daysAgo === undefined ? null : new Date(Date.now() - daysAgo * dayMs),
    });
    const [open, young, old] = [group(undefined), group(29.9), group(30.1)];
    await groups.insertMany([open, young, old]);
    await waitUntil(async () => (await groups.findOne({ _id: old._id })) === null, {
      what: 'the old group to be gone',
      timeoutMs: 60_000,
    });
    expect((await groups.find().toArray()).map(({ _id }) => _id)).toEqual([open._id, young._id]);
  } finally {
    await client.close();
    await mongo.kill();
    await rm(dir, { recursive: true });
  }
});

test('the index of closed groups holds only those, and the check of indexes reports it if it is missing', async () => {
  const { groups } = api.collections;
  const db = api.mongo.db(api.database);
  const index = (await groups.indexes()).find(({ key }) => 'closed_at' in key);
  expect(index).toMatchObject({
    key: { closed_at: 1 },
    expireAfterSeconds: 30 * 86_400,
    partialFilterExpression: { closed_at: { $type: 'date' } },
  });
  const name = index?.name ?? '';
  await groups.dropIndex(name);
  expect(await missingIndexes(db)).toEqual([{ collection: 'groups', index: name, fault: 'missing' }]);
  await ensureIndexes(db);
  expect(await missingIndexes(db)).toEqual([]);
});

test('a request about a group whose document is gone is answered as about a closed one, never by a 500', async () => {
  const [former, otherUser] = [await newSession(api), await newSession(api)];
  const { home_group_id } = former;
  const [dead, open] = [await insertInvite(api, home_group_id), await insertInvite(api, home_group_id)];
  expect((await leave(api, former)).status).toBe(200);
  // As if one of the invites had not ended with its group.
  await api.collections.invites.updateOne({ _id: open }, { $set: { revoked_at: null } });
  const answersOf = async () => {
    const asked = [
      currentGroup(api, former),
      leave(api, former),
      removeMember(api, former, former.user_id),
      removeMember(api, former, otherUser.user_id),
      api.createInvite({}, bearer(former)),
      api.listInvites(bearer(former)),
      api.revokeInvite({ token: dead }, bearer(former)),
      ...[dead, open].flatMap((token) => [
        api.findInvite({ token }),
        accept(api, otherUser, token),
        accept(api, former, token),
        joinBy(api, token),
      ]),
    ];
    return (await Promise.all(asked)).map(({ status, json }) => [status, json.error_code]);
  };
  // The token names the former group, and neither Redis nor the session has the change.
  await api.collections.sessions.updateOne({ _id: former.session_id }, { $set: { 'claims.ver': 1 } });
  const closed = await answersOf();
  expect(await api.collections.groups.deleteOne({ _id: home_group_id })).toMatchObject({ deletedCount: 1 });
  expect(await answersOf()).toEqual(closed);
  const outdated = [401, 'IAD_JWT_ACCESS_INVALID'];
  const over = [410, 'ERR-INVITE-TOKEN-INVALID'];
  const first = [[200, undefined], over, outdated, over];
  expect(closed).toEqual([...Array(7).fill(outdated), ...first, ...first]);
  expect((await currentGroup(api, await refresh(api, former))).status).toBe(200);
});
