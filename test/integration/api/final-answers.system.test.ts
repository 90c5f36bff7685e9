import { randomUUID } from 'node:crypto';
import { type Route, type RouteName, routes } from '@auth-account/contracts';
import { type LocalMongo, startMongo, waitUntil } from '@auth-account/local-stack';
import { collectionsOf, createFence } from '@auth-account/stores';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { type Account, newSession, registerAccount, type TokenPair } from '../../support/api/accounts.ts';
import { codeOf, requestLoginCode } from '../../support/api/codes.ts';
import { type GoodRequest, goodRequests, sendTo } from '../../support/api/good-requests.ts';
import { accept, insertInvite } from '../../support/api/groups.ts';
import { openTokenFixture, type TokenApi, type TokenFixture } from '../../support/api/token-api.ts';
import type { Answer } from '../../support/http-client.ts';
import { type GuardedFolder, openGuardedFolder } from '../../support/processes/guarded-folder.ts';
import { keepPrimary, stopReplication } from '../../support/stores/stop-replication.ts';

/** Operations whose answers depend on stored state, each with and without an `Idempotency-Key` if it takes one. */
const all = Object.entries(routes) as [RouteName, Route][];
const changing = all.filter(([, { method }]) => method !== 'get');
const final = changing.filter(([, { finality }]) => finality !== 'none');
const keyed = final.filter(([, { headers }]) => headers.includes('Idempotency-Key'));
const cases = [
  ...final.map(([name]) => ({ name, headers: {} })),
  ...keyed.map(([name]) => ({ name, headers: { 'Idempotency-Key': randomUUID() } })),
];

/** Two members, so a majority lacks every write that the secondary has not applied. */
let mongo: LocalMongo;
let folder: GuardedFolder;
let fixture: TokenFixture;
/** Two pods, which wait at most a second for an answer of MongoDB. */
let pods: readonly [TokenApi, TokenApi];
let resume: (() => Promise<void>) | undefined;
/** Answers to the first request and to its repeat at another pod, while no majority has any write. */
let answers: readonly (readonly [Answer, Answer])[];
let member: Account & TokenPair;
let moved: Answer;
/** A login before the move, its repeat after it, and the login of another device by a code that one pod has used. */
let [login, repeated, stolen]: Answer[] = [];
let repeatLogin: () => Promise<Answer>;

const memberUri = (port: number) => `mongodb://127.0.0.1:${port}/?directConnection=true`;

async function secondaryPort(): Promise<number> {
  const { primary } = await fixture.mongo.db('admin').command({ hello: 1 });
  return mongo.ports.find((port) => !String(primary).endsWith(`:${port}`)) ?? 0;
}

/** Sends the request to one pod, and when it is answered or given up, again to another. */
async function sendTwice(send: (pod: TokenApi) => Promise<Answer>): Promise<readonly [Answer, Answer]> {
  const first = await send(pods[0]);
  return [first, await send(pods[1])];
}

beforeAll(async () => {
  folder = await openGuardedFolder('final-answers');
  const setParameters = { enableTestCommands: '1' };
  mongo = await startMongo({ dir: folder.dir, members: 2, setParameters, log: () => undefined, onSpawn: folder.watch });
  await keepPrimary(mongo.uri);
  fixture = await openTokenFixture({ mongodbUri: mongo.uri });
  const impatient = { MONGODB_URI: `${mongo.uri}&socketTimeoutMS=1000&maxPoolSize=200` };
  const [api, ...others] = [await fixture.start(), await fixture.start(impatient), await fixture.start(impatient)];
  pods = others as [TokenApi, TokenApi];
  const on = { ...(api as TokenApi), collections: fixture.collections, keyPrefix: fixture.keyPrefix };

  const prepared: GoodRequest[] = [];
  for (const { name, headers } of cases) {
    const good = await goodRequests[name](on);
    prepared.push({ ...good, headers: { ...good.headers, ...headers } });
  }
  member = await newSession(on);
  const byCode = async (email: string) => {
    const challenge_id = await requestLoginCode(on, email);
    return { challenge_id, code: await codeOf(on, challenge_id), device_id: randomUUID() };
  };
  const [code, used] = [await byCode(member.email), await byCode((await registerAccount(on)).email)];
  const logIn = (pod: TokenApi, body: object) => pod.logInByCode(body);
  repeatLogin = () => logIn(pods[1], code);
  login = await logIn(pods[0], code);
  const invite = await insertInvite(on, (await registerAccount(on)).home_group_id);

  resume = await stopReplication(await secondaryPort());
  const moving = accept(pods[0], login.json.data, invite, { leave_current_group: true }).then(async (answer) => {
    moved = answer;
    repeated = await repeatLogin();
  });
  const stealing = logIn(pods[0], used).then(async () => {
    stolen = await logIn(pods[1], { ...used, device_id: randomUUID() });
  });
  const sending = cases.map(({ name }, at) => sendTwice((pod) => sendTo(name, pod, prepared[at] ?? {})));
  [answers] = await Promise.all([Promise.all(sending), moving, stealing]);
});
afterAll(async () => {
  await resume?.();
  await fixture?.close();
  await mongo?.kill();
  await folder?.close();
});

test('only operations without stored state answer before a majority has what they read, besides GET', () => {
  const others = changing.filter(([, { finality }]) => finality === 'none').map(([name]) => name);
  expect(others.sort()).toEqual(['createFederatedChallenge', 'createPasskeyLoginChallenge', 'readRevocations']);
});

/** A refresh confirms what a 401 says; and a 429 names a time after which the request can be repeated. */
const notFinal = [401, 429, 503];

// guarantees: final-answers
test.each(cases.map(({ name, headers }, at) => [name, Object.keys(headers)[0] ?? 'no key', at] as const))(
  'neither %s nor its repeat at another pod is answered for good while no majority has a write (%s)',
  (_name, _key, at) => {
    const [first, again] = answers[at] ?? [];
    expect(first?.status).toBe(503);
    expect(notFinal).toContain(again?.status);
  },
);

// guarantees: final-answers
test('the repeat of a login hands out no token of a group that the user has joined on the primary alone', async () => {
  expect([login?.status, moved.status, repeated?.status]).toEqual([200, 503, 503]);
  const user = await fixture.collections.users.findOne({ _id: member.user_id });
  expect(user?.home_group_id).not.toBe(member.home_group_id);
});

// guarantees: final-answers
test('a used code is not refused for good because of a use that the primary alone has', () => {
  expect(stolen?.json.error_code).toBe('ERR-DEPENDENCY-UNAVAILABLE');
});

test('any number of answers share a fence, but only one that has begun after their reads', async () => {
  await resume?.();
  resume = undefined;
  const client = new MongoClient(mongo.uri, { monitorCommands: true });
  const { begin } = createFence(collectionsOf(client.db(fixture.database)));
  let begun = 0;
  client.on('commandStarted', ({ commandName }) => {
    if (commandName === 'find') begun += 1;
  });
  try {
    await client.connect();
    const pass = begin();
    // The second comes too late for the fence of the first, and begins the fence of all others.
    await Promise.all(Array.from({ length: 100 }, pass));
    expect(begun).toBe(2);
  } finally {
    await client.close();
  }
});

// guarantees: final-answers
// Must be the last test, because afterwards another member is the primary.
test('after an election a fence confirms nothing that was read of the former primary', async () => {
  const client = new MongoClient(mongo.uri);
  const fence = createFence(collectionsOf(client.db(fixture.database)));
  const [old, other] = [new MongoClient(mongo.uri), new MongoClient(memberUri(await secondaryPort()))];
  try {
    await client.connect();
    const pass = fence.begin();
    await pass();
    expect((await repeatLogin()).status).toBe(200);
    await old.db('admin').command({ replSetStepDown: 60, force: true });
    const stepUp = () => other.db('admin').command({ replSetStepUp: 1 });
    await waitUntil(() => stepUp().then(Boolean, () => false), {
      what: 'an election',
      timeoutMs: 60_000,
      intervalMs: 50,
    });
    await waitUntil(
      () =>
        fence
          .begin()()
          .then(
            () => true,
            () => false,
          ),
      { what: 'a fence', timeoutMs: 60_000, intervalMs: 50 },
    );
    await expect(pass()).rejects.toMatchObject({ code: 'ERR-DEPENDENCY-UNAVAILABLE' });
  } finally {
    await Promise.all([client.close(), old.close(), other.close()]);
  }
});
