import { type LocalMongo, startMongo, waitUntil } from '@auth-account/local-stack';
import type { SessionDocument } from '@auth-account/stores/documents';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newSession, type TokenPair } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { openTokenFixture, type TokenApi, type TokenFixture } from '../../support/api/token-api.ts';
import { send } from '../../support/http-client.ts';
import { openGuardedFolder } from '../../support/processes/guarded-folder.ts';
import { type ServiceProcess, startApiProcess } from '../../support/processes/service-process.ts';
import { type FailCommand, withFailPoint } from '../../support/stores/fail-point.ts';
import { type HoldingProxy, startHoldingProxy } from '../../support/stores/holding-proxy.ts';

const appName = 'session-faults';
const hour = 3_600_000;

let mongo: LocalMongo;
let fixture: TokenFixture;
let api: TokenApi;
let end: () => Promise<void>;
const processes: ServiceProcess[] = [];
const proxies: HoldingProxy[] = [];

/** A separate MongoDB, because a server has only one `failCommand`, and other tests set it too. */
beforeAll(async () => {
  const folder = await openGuardedFolder('refresh');
  const log = () => undefined;
  mongo = await startMongo({ dir: folder.dir, setParameters: { enableTestCommands: '1' }, log, onSpawn: folder.watch });
  fixture = await openTokenFixture({ mongodbUri: mongo.uri });
  const uri = new URL(mongo.uri);
  uri.searchParams.set('appName', appName);
  api = await fixture.start({ MONGODB_URI: uri.href });
  end = async () => {
    for (const child of processes) await child.end('SIGKILL');
    await fixture.close();
    for (const proxy of proxies) await proxy.close();
    await mongo.kill();
    await folder.close();
  };
});
afterAll(() => end());

/** Starts a proxy before MongoDB, which is closed after the tests. */
async function openProxy(): Promise<HoldingProxy> {
  const proxy = await startHoldingProxy(mongo.ports[0] as number);
  proxies.push(proxy);
  return proxy;
}

const documentOf = async (session_id: string) =>
  (await fixture.collections.sessions.findOne({ _id: session_id })) as SessionDocument;
/** The usual refresh is one findAndModify. A refresh that has read the session is an update. */
const failing = (data: Partial<FailCommand>): FailCommand => ({
  failCommands: ['findAndModify', 'update'],
  appName,
  ...data,
});
const shutdownInProgress = 91;
const operationFailed = 96;
const writeConcernError = { code: shutdownInProgress, errmsg: 'the server goes down' };

/** Makes the session's next refresh read before it writes, as for a session of an earlier release. */
async function withoutPrecomputedHashes(session_id: string): Promise<void> {
  await fixture.collections.sessions.updateOne({ _id: session_id }, { $unset: { ahead: 1 } });
}

describe('a MongoDB that fails during a refresh', () => {
  test.each<[string, FailCommand]>([
    ['with an error that says nothing', failing({ errorCode: operationFailed })],
    ['with an error of a server that goes down', failing({ errorCode: shutdownInProgress })],
    ['by breaking the connection before it writes', failing({ closeConnection: true })],
    ['already at the reading', failing({ failCommands: ['findAndModify', 'find'], closeConnection: true })],
  ])('a MongoDB that fails %s during a refresh costs nothing: the same token refreshes afterwards', async (_, data) => {
    const { refresh_token, session_id } = await newSession(api);
    const before = await documentOf(session_id);
    const answer = await withFailPoint(fixture.mongo, 'alwaysOn', data, () => api.refresh(refresh_token));
    expect([500, 503]).toContain(answer.status);
    expect(await documentOf(session_id)).toEqual(before);
    fixture.clock.pass(hour);
    const again = await api.refresh(refresh_token);
    expect(again.status).toBe(200);
    expect((await api.refresh(again.json.data.refresh_token)).status).toBe(200);
  });

  test('a refresh whose write is answered with an error goes on by reading, and finds its own successor', async () => {
    const { refresh_token, session_id } = await newSession(api);
    const data = failing({ failCommands: ['findAndModify'], writeConcernError });
    const answer = await withFailPoint(fixture.mongo, 'alwaysOn', data, () => api.refresh(refresh_token));
    expect(answer.status).toBe(200);
    expect(await documentOf(session_id)).toMatchObject({ gen: 2, parent: 1, is_revoked: false });
    expect((await api.refresh(answer.json.data.refresh_token)).status).toBe(200);
  });

  test.each([
    ['at once', 0],
    ['an hour later', hour],
  ])('a refresh that got an error after it had read and written succeeds if the retry comes %s', async (_, pause) => {
    const { refresh_token, session_id } = await newSession(api);
    await withoutPrecomputedHashes(session_id);
    const data = failing({ writeConcernError });
    const answer = await withFailPoint(fixture.mongo, 'alwaysOn', data, () => api.refresh(refresh_token));
    expect(answer.status).toBe(503);
    expect(await documentOf(session_id)).toMatchObject({ gen: 2, parent: 1, is_revoked: false });
    fixture.clock.pass(pause);
    const again = await api.refresh(refresh_token);
    expect(again.status).toBe(200);
    expect(await documentOf(session_id)).toMatchObject({ gen: pause === 0 ? 2 : 3, is_revoked: false });
    expect((await api.refresh(again.json.data.refresh_token)).status).toBe(200);
  });

  test('a MongoDB that fails once during a refresh is not even noticed by the app', async () => {
    const { refresh_token, session_id } = await newSession(api);
    const data = failing({ closeConnection: true });
    const answer = await withFailPoint(fixture.mongo, { times: 1 }, data, () => api.refresh(refresh_token));
    expect(answer.status).toBe(200);
    expect(await documentOf(session_id)).toMatchObject({ gen: 2, is_revoked: false });
  });
});

describe.each([
  ['of the usual refresh', 'findAndModify', async () => undefined],
  ['of a refresh that has read', 'update', withoutPrecomputedHashes],
])('the reply to a write %s', (_, command, prepare) => {
  // guarantees: refreshes-converge
  test('a reply of MongoDB’s that is lost after the write makes one successor, not two', async () => {
    const proxy = await openProxy();
    const behind = await fixture.start({ MONGODB_URI: `mongodb://127.0.0.1:${proxy.port}/?directConnection=true` });
    const { refresh_token, session_id } = await newSession(behind);
    await prepare(session_id);
    // BSON of the command's first field, whose value is a string: the name of the collection.
    proxy.dropReplyTo(`\x02${command}\0`);
    const answer = await behind.refresh(refresh_token);
    expect(proxy.dropped()).toBe(1);
    expect(answer.status).toBe(200);
    expect(await documentOf(session_id)).toMatchObject({ gen: 2, parent: 1, is_revoked: false });
    expect((await behind.refresh(answer.json.data.refresh_token)).status).toBe(200);
  });
});

// guarantees: lost-answer
test('another api gives the answer that was lost when one was killed between commit and answer', async () => {
  const proxy = await openProxy();
  const uri = `mongodb://127.0.0.1:${new URL(proxy.url).port}/?directConnection=true`;
  const victim = await startApiProcess({ ...fixture.env, MONGODB_URI: uri });
  processes.push(victim);
  const { refresh_token, session_id } = await newSession(api);

  proxy.hold('findAndModify');
  const headers = { 'Content-Type': 'application/json', 'X-Request-ID': 'test-request-1' };
  const request = { path: '/api/v1/auth/refresh', body: { refresh_token }, headers };
  const lost = send(victim.base, request).then(
    ({ status }) => status,
    ({ code }: NodeJS.ErrnoException) => code,
  );
  await waitUntil(async () => (await documentOf(session_id)).gen === 2, { what: 'the commit', timeoutMs: 60_000 });
  await victim.end('SIGKILL');
  expect(await lost).toBe('ECONNRESET');

  const successor = await startApiProcess(fixture.env);
  processes.push(successor);
  const again = await send(successor.base, request);
  expect(again.status).toBe(200);
  expect(await documentOf(session_id)).toMatchObject({ gen: 2, parent: 1, is_revoked: false });
  const next = { ...request, body: { refresh_token: again.json.data.refresh_token } };
  expect((await send(successor.base, next)).status).toBe(200);
});

describe('a logout whose answer from MongoDB is lost', () => {
  const logOut = ({ access_token, refresh_token }: TokenPair) => api.logOut({ refresh_token }, bearer(access_token));

  test('a logout whose answer from MongoDB is lost after the write is a logout all the same, and only one', async () => {
    const tokens = await newSession(api);
    const data = failing({ failCommands: ['update'], writeConcernError });
    const answer = await withFailPoint(fixture.mongo, { times: 1 }, data, () => logOut(tokens));
    expect(answer.status).toBe(200);
    expect(await documentOf(tokens.session_id)).toMatchObject({ is_revoked: true, revoked_reason: 'logout' });
    expect((await logOut(tokens)).status).toBe(404);
  });

  test('a logout whose answer from MongoDB is lost before the write is carried out by a second write', async () => {
    const tokens = await newSession(api);
    const data = failing({ failCommands: ['update'], closeConnection: true });
    const answer = await withFailPoint(fixture.mongo, { times: 1 }, data, () => logOut(tokens));
    expect(answer.status).toBe(200);
    expect(await documentOf(tokens.session_id)).toMatchObject({ is_revoked: true });
  });
});
