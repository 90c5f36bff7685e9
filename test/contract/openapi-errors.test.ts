import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openApiPath, type Route, type RouteName, routes } from '@auth-account/contracts';
import { createAccessTokenSigner, loadKeyFile } from '@auth-account/tokens';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { logOut, newEmail, newSession, password, registerAccount } from '../support/accounts.ts';
import { cheapHashes, insertInvite, joinByInvite, leave, refresh } from '../support/groups.ts';
import { type Answer, send } from '../support/http-client.ts';
import { openApiChecker } from '../support/openapi-checker.ts';
import { startReplyDroppingProxy } from '../support/reply-dropping-proxy.ts';
import { startTestApi, type TestApi, testEnvironment } from '../support/test-api.ts';

const checker = openApiChecker(JSON.parse(await readFile(new URL('../../docs/openapi.json', import.meta.url), 'utf8')));

let api: TestApi;
/** Its store has gone away since it started. */
let severed: TestApi;
/** It makes one hash at a time, lets none wait, and allows a user one invite and one move. */
let narrow: TestApi;
/** One request of each kind is all that it allows an address. */
let strict: TestApi;
/** Its collections refuse every write, as a fault in the schema would. */
let faulty: TestApi;

beforeAll(async () => {
  const proxy = await startReplyDroppingProxy(Number(new URL(testEnvironment().mongodbUri).port));
  const byProxy = `mongodb://127.0.0.1:${proxy.port}/?directConnection=true`;
  [api, severed, narrow, strict, faulty] = await Promise.all([
    startTestApi(cheapHashes),
    startTestApi({ ...cheapHashes, MONGODB_URI: byProxy }),
    startTestApi({
      HASH_CONCURRENCY: '1',
      HASH_QUEUE_LIMIT: '0',
      INVITE_CREATE_LIMIT_PER_USER: '1',
      MOVE_LIMIT_PER_USER: '1',
    }),
    startTestApi({
      ...cheapHashes,
      REGISTER_LIMIT_PER_ADDRESS: '1',
      LOGIN_LIMIT_PER_ADDRESS: '1',
      REFRESH_LIMIT_PER_ADDRESS: '1',
      INVITE_LIMIT_PER_ADDRESS: '1',
    }),
    startTestApi(cheapHashes),
  ]);
  await proxy.close();
});
afterAll(() => Promise.all([api, severed, narrow, strict, faulty].map((each) => each.close())));

/** A request that its operation would answer with success. */
interface GoodRequest {
  readonly body?: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  /** What stands in the path. */
  readonly params?: Readonly<Record<string, string>>;
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

const goodRequests = {
  register: async () => ({
    body: { email: newEmail(), password, space_creation_mode: 'CREATE_NEW_HOME' },
    headers: {},
  }),
  login: async (on: TestApi) => ({ body: { email: (await registerAccount(on)).email, password }, headers: {} }),
  refresh: async (on: TestApi) => ({ body: { refresh_token: (await newSession(on)).refresh_token }, headers: {} }),
  async logout(on: TestApi) {
    const { refresh_token, access_token } = await newSession(on);
    return { body: { refresh_token }, headers: bearer(access_token) };
  },
  logoutAll: async (on: TestApi) => ({ body: {}, headers: bearer((await newSession(on)).access_token) }),
  listSessions: async (on: TestApi) => ({ headers: bearer((await newSession(on)).access_token) }),
  async revokeSession(on: TestApi) {
    const { session_id, access_token } = await newSession(on);
    return { params: { session_id }, headers: bearer(access_token) };
  },
  findCurrentGroup: async (on: TestApi) => ({ headers: bearer((await newSession(on)).access_token) }),
  async acceptInvite(on: TestApi) {
    const [target, { access_token }] = [await registerAccount(on), await newSession(on)];
    const token = await insertInvite(on, target.home_group_id);
    return { params: { token }, body: { leave_current_group: true }, headers: bearer(access_token) };
  },
  async leaveGroup(on: TestApi) {
    const owner = await registerAccount(on);
    const { access_token } = await joinByInvite(on, await insertInvite(on, owner.home_group_id));
    return { headers: bearer(access_token) };
  },
  async removeMember(on: TestApi) {
    const { home_group_id, access_token } = await newSession(on);
    const { user_id } = await joinByInvite(on, await insertInvite(on, home_group_id));
    return { params: { user_id }, headers: bearer(access_token) };
  },
  createInvite: async (on: TestApi) => ({ body: {}, headers: bearer((await newSession(on)).access_token) }),
  listInvites: async (on: TestApi) => ({ headers: bearer((await newSession(on)).access_token) }),
  async findInvite(on: TestApi) {
    const { home_group_id } = await registerAccount(on);
    return { params: { token: await insertInvite(on, home_group_id) }, headers: {} };
  },
  async revokeInvite(on: TestApi) {
    const { home_group_id, access_token } = await newSession(on);
    return { params: { token: await insertInvite(on, home_group_id) }, headers: bearer(access_token) };
  },
} satisfies Partial<Record<RouteName, (on: TestApi) => Promise<GoodRequest>>>;

type Operation = keyof typeof goodRequests;
type Provocation = () => Promise<Answer>;

async function sendGood(name: Operation, on = api, change: Partial<GoodRequest> = {}): Promise<Answer> {
  const good: GoodRequest = await goodRequests[name](on === severed ? api : on);
  return sendTo(name, on, { ...good, ...change, headers: { ...good.headers, ...change.headers } });
}

function sendTo(name: Operation, on: TestApi, { body, headers, params }: GoodRequest): Promise<Answer> {
  return on.send({ method: routes[name].method.toUpperCase(), path: pathOf(name, params), headers, body });
}

function pathOf(name: Operation, params: GoodRequest['params'] = {}): string {
  return routes[name].path.replaceAll(/:(\w+)/g, (_, param: string) => params[param] ?? '');
}

/** The codes that every operation with a body shares, and what brings them about. */
function commonProvocations(name: Operation): Record<string, Provocation> {
  return {
    ...provocationsWithoutBody(name),
    'ERR-VALIDATION-FAILED': () => sendGood(name, api, { body: { [bodyFieldOf(name)]: 0 } }),
    'ERR-UNSUPPORTED-MEDIA-TYPE': () => sendGood(name, api, { headers: { 'Content-Type': 'text/plain' } }),
    'ERR-PAYLOAD-TOO-LARGE': () => sendGood(name, api, { body: { filler: 'x'.repeat(16 * 1024) } }),
  };
}

function bodyFieldOf(name: Operation): string {
  const { properties = {} } = ((routes[name] as Route).body ?? {}) as { properties?: object };
  return Object.keys(properties)[0] ?? '';
}

/** What an operation writes where it does not write sessions. */
const writes: Partial<Record<Operation, 'users' | 'invites'>> = {
  register: 'users',
  acceptInvite: 'users',
  leaveGroup: 'users',
  removeMember: 'users',
  createInvite: 'invites',
  revokeInvite: 'invites',
};

let answersWithoutStore: Promise<Map<Operation, Answer>> | undefined;

/** Each answer takes seconds, in which the store is looked for: the first that asks sends all operations at once. */
async function answerWithoutStore(name: Operation): Promise<Answer> {
  answersWithoutStore ??= askAllWithoutStore();
  return (await answersWithoutStore).get(name) ?? sendGood(name, severed);
}

async function askAllWithoutStore(): Promise<Map<Operation, Answer>> {
  const goods: [Operation, GoodRequest][] = [];
  for (const name of Object.keys(goodRequests) as Operation[]) goods.push([name, await goodRequests[name](api)]);
  return new Map(
    await Promise.all(goods.map(async ([name, good]) => [name, await sendTo(name, severed, good)] as const)),
  );
}

/** The codes that every operation shares. */
function provocationsWithoutBody(name: Operation): Record<string, Provocation> {
  return {
    async PMA_TRACE_ID_MISSING() {
      const { body, headers, params }: GoodRequest = await goodRequests[name](api);
      const type = { 'Content-Type': 'application/json' };
      const method = routes[name].method.toUpperCase();
      return send(api.base, { method, path: pathOf(name, params), body, headers: { ...type, ...headers } });
    },
    'ERR-VALIDATION-FAILED': () => sendGood(name, api, { headers: { 'X-Request-ID': 'a b' } }),
    'ERR-DEPENDENCY-UNAVAILABLE': () => answerWithoutStore(name),
    async 'ERR-INTERNAL'() {
      const good: GoodRequest = await goodRequests[name](faulty);
      const collection = faulty.collections[writes[name] ?? 'sessions'];
      const refuse = (validator: object) =>
        faulty.mongo.db(faulty.database).command({ collMod: collection.collectionName, validator });
      await refuse({ never: { $exists: true } });
      try {
        return await sendTo(name, faulty, good);
      } finally {
        await refuse({});
      }
    },
  };
}

/** More at once than there are places for: one of them is turned away. */
async function overload(name: 'register' | 'login'): Promise<Answer> {
  const requests = await Promise.all(Array.from({ length: 8 }, () => goodRequests[name](api)));
  const answers = await Promise.all(requests.map(({ body }) => sendTo(name, narrow, { body, headers: {} })));
  const refused = answers.find(({ status }) => status === 503);
  if (refused === undefined) throw new Error('none was turned away');
  return refused;
}

async function pastTheLimit(name: 'register' | 'login' | 'refresh' | 'findInvite'): Promise<Answer> {
  const good = await goodRequests[name](api);
  await sendTo(name, strict, good);
  return sendTo(name, strict, good);
}

/** The answer to the second move of somebody who has gone home. */
async function pastTheMove(
  name: 'acceptInvite' | 'leaveGroup' | 'removeMember',
  requestOf: (userId: string) => Omit<GoodRequest, 'headers'>,
): Promise<Answer> {
  const mover = await newSession(narrow);
  await leave(narrow, mover);
  const { access_token } = await refresh(narrow, mover);
  return sendTo(name, narrow, { ...requestOf(mover.user_id), headers: bearer(access_token) });
}

async function revokedToken(): Promise<string> {
  const session = await newSession(api);
  await logOut(api, session);
  return session.refresh_token;
}

async function expiredAccessToken(): Promise<string> {
  const keys = await loadKeyFile(join(testEnvironment().keysDir, 'access-token-keys.json'));
  const settings = { keys, algorithm: 'EdDSA', issuer: 'https://auth.local', audience: 'food-storage' } as const;
  const sign = await createAccessTokenSigner({ ...settings, ttlSeconds: 600, now: () => Date.now() - 9_999_000 });
  const { user_id, home_group_id, session_id, device_id } = await newSession(api);
  return sign({ user_id, home_group_id, account_type: 'HOME', sid: session_id, ver: 1, device_id });
}

async function expiredInvite(): Promise<string> {
  const { home_group_id } = await registerAccount(api);
  return insertInvite(api, home_group_id, { expires_at: new Date(Date.now() - 1_000) });
}

/** An invite that cannot be shown: it has no end. */
async function brokenInvite(home_group_id: string): Promise<string> {
  const token = await insertInvite(faulty, home_group_id, { revoked_at: new Date() });
  await faulty.collections.invites.updateOne({ _id: token }, { $unset: { expires_at: true } } as const);
  return token;
}

/** The access token of somebody who does not own the group. */
async function memberToken(): Promise<string> {
  const { home_group_id } = await registerAccount(api);
  return (await joinByInvite(api, await insertInvite(api, home_group_id))).access_token;
}

const joinBy = (invite_token: string) =>
  sendGood('register', api, {
    body: { email: newEmail(), password, space_creation_mode: 'JOIN_EXISTING', invite_token },
  });

function accessProvocations(name: Operation): Record<string, Provocation> {
  return {
    IAD_JWT_ACCESS_INVALID: () => sendGood(name, api, { headers: bearer('none') }),
    IAD_JWT_ACCESS_EXPIRED: async () => sendGood(name, api, { headers: bearer(await expiredAccessToken()) }),
  };
}

/** By operation and code; a code that has several statuses names each of them. */
const provocations: Record<Operation, Record<string, Provocation>> = {
  register: {
    ...commonProvocations('register'),
    async 'ERR-EMAIL-ALREADY-EXISTS'() {
      const { email } = await registerAccount(api);
      return sendGood('register', api, { body: { email, password, space_creation_mode: 'CREATE_NEW_HOME' } });
    },
    async 'ERR-IDEMPOTENCY-KEY-REUSED'() {
      const { body }: GoodRequest = await goodRequests.register();
      const headers = { 'Idempotency-Key': crypto.randomUUID() };
      await sendTo('register', api, { body, headers });
      return sendTo('register', api, { body: { ...body, password: 'another password' }, headers });
    },
    'ERR-INVITE-TOKEN-INVALID 404': () => joinBy('nothing'),
    'ERR-INVITE-TOKEN-INVALID 410': async () => joinBy(await expiredInvite()),
    'ERR-RATE-LIMITED': () => pastTheLimit('register'),
    'ERR-OVERLOADED': () => overload('register'),
  },
  login: {
    ...commonProvocations('login'),
    'ERR-INVALID-CREDENTIALS': () => sendGood('login', api, { body: { email: newEmail(), password } }),
    'ERR-RATE-LIMITED': () => pastTheLimit('login'),
    'ERR-OVERLOADED': () => overload('login'),
  },
  refresh: {
    ...commonProvocations('refresh'),
    IAD_JWT_REFRESH_EXPIRED: () => sendGood('refresh', api, { body: { refresh_token: 'none of ours' } }),
    'ERR-RATE-LIMITED': () => pastTheLimit('refresh'),
    IAD_JWT_REFRESH_STOLEN: async () => sendGood('refresh', api, { body: { refresh_token: await revokedToken() } }),
  },
  logoutAll: { ...commonProvocations('logoutAll'), ...accessProvocations('logoutAll') },
  listSessions: {
    ...provocationsWithoutBody('listSessions'),
    ...accessProvocations('listSessions'),
    // It writes nothing that could be refused: here a document is not as it should be.
    async 'ERR-INTERNAL'() {
      const { session_id, access_token } = await newSession(faulty);
      const broken = { $unset: { created_at: true } } as const;
      await faulty.collections.sessions.updateOne({ _id: session_id }, broken);
      return sendTo('listSessions', faulty, { headers: bearer(access_token) });
    },
  },
  revokeSession: {
    ...provocationsWithoutBody('revokeSession'),
    ...accessProvocations('revokeSession'),
    'ERR-LOGOUT-TARGET-NOT-FOUND': () => sendGood('revokeSession', api, { params: { session_id: 'none' } }),
  },
  findCurrentGroup: {
    ...provocationsWithoutBody('findCurrentGroup'),
    ...accessProvocations('findCurrentGroup'),
    async 'ERR-INTERNAL'() {
      const { user_id, access_token } = await newSession(faulty);
      await faulty.collections.users.updateOne({ _id: user_id }, { $unset: { joined_at: true } } as const);
      return sendTo('findCurrentGroup', faulty, { headers: bearer(access_token) });
    },
  },
  acceptInvite: {
    ...commonProvocations('acceptInvite'),
    ...accessProvocations('acceptInvite'),
    IAD_GROUP_ALREADY_MEMBER: () => sendGood('acceptInvite', api, { body: {} }),
    IAD_GROUP_INVITE_EXPIRED: async () => sendGood('acceptInvite', api, { params: { token: await expiredInvite() } }),
    'ERR-INVITE-TOKEN-INVALID 404': () => sendGood('acceptInvite', api, { params: { token: 'nothing' } }),
    async 'ERR-INVITE-TOKEN-INVALID 410'() {
      const { home_group_id } = await registerAccount(api);
      const token = await insertInvite(api, home_group_id, { revoked_at: new Date() });
      return sendGood('acceptInvite', api, { params: { token } });
    },
    async 'ERR-RATE-LIMITED'() {
      const { home_group_id } = await registerAccount(narrow);
      const token = await insertInvite(narrow, home_group_id);
      return pastTheMove('acceptInvite', () => ({ params: { token }, body: { leave_current_group: true } }));
    },
  },
  leaveGroup: {
    ...provocationsWithoutBody('leaveGroup'),
    ...accessProvocations('leaveGroup'),
    'ERR-RATE-LIMITED': () => pastTheMove('leaveGroup', () => ({})),
  },
  removeMember: {
    ...provocationsWithoutBody('removeMember'),
    ...accessProvocations('removeMember'),
    'ERR-RATE-LIMITED': () => pastTheMove('removeMember', (user_id) => ({ params: { user_id } })),
    'ERR-GROUP-MEMBER-NOT-FOUND': () => sendGood('removeMember', api, { params: { user_id: 'nobody' } }),
    async 'ERR-GROUP-OWNER-REQUIRED'() {
      const { user_id, home_group_id } = await registerAccount(api);
      const { access_token } = await joinByInvite(api, await insertInvite(api, home_group_id));
      return sendTo('removeMember', api, { params: { user_id }, headers: bearer(access_token) });
    },
  },
  createInvite: {
    ...commonProvocations('createInvite'),
    ...accessProvocations('createInvite'),
    'ERR-GROUP-OWNER-REQUIRED': async () => sendGood('createInvite', api, { headers: bearer(await memberToken()) }),
    async 'ERR-RATE-LIMITED'() {
      const good = await goodRequests.createInvite(narrow);
      await sendTo('createInvite', narrow, good);
      return sendTo('createInvite', narrow, good);
    },
    async 'ERR-INVITE-LIMIT-REACHED'() {
      const { home_group_id, access_token } = await newSession(api);
      await Promise.all(Array.from({ length: 100 }, () => insertInvite(api, home_group_id)));
      return sendGood('createInvite', api, { headers: bearer(access_token) });
    },
    async 'ERR-IDEMPOTENCY-KEY-REUSED'() {
      const { access_token } = await newSession(api);
      const headers = { ...bearer(access_token), 'Idempotency-Key': crypto.randomUUID() };
      await sendTo('createInvite', api, { body: {}, headers });
      return sendTo('createInvite', api, { body: { max_uses: 1 }, headers });
    },
  },
  listInvites: {
    ...provocationsWithoutBody('listInvites'),
    ...accessProvocations('listInvites'),
    'ERR-GROUP-OWNER-REQUIRED': async () => sendGood('listInvites', api, { headers: bearer(await memberToken()) }),
    async 'ERR-INTERNAL'() {
      const { home_group_id, access_token } = await newSession(faulty);
      await brokenInvite(home_group_id);
      return sendTo('listInvites', faulty, { headers: bearer(access_token) });
    },
  },
  findInvite: {
    ...provocationsWithoutBody('findInvite'),
    'ERR-INVITE-TOKEN-INVALID': () => sendGood('findInvite', api, { params: { token: 'nothing' } }),
    'ERR-RATE-LIMITED': () => pastTheLimit('findInvite'),
    async 'ERR-INTERNAL'() {
      const { home_group_id } = await registerAccount(faulty);
      return sendTo('findInvite', faulty, { params: { token: await brokenInvite(home_group_id) }, headers: {} });
    },
  },
  revokeInvite: {
    ...provocationsWithoutBody('revokeInvite'),
    ...accessProvocations('revokeInvite'),
    'ERR-GROUP-OWNER-REQUIRED': async () => sendGood('revokeInvite', api, { headers: bearer(await memberToken()) }),
    'ERR-INVITE-TOKEN-INVALID': () => sendGood('revokeInvite', api, { params: { token: 'nothing' } }),
  },
  logout: {
    ...commonProvocations('logout'),
    ...accessProvocations('logout'),
    'ERR-LOGOUT-TARGET-NOT-FOUND': () => sendGood('logout', api, { body: { refresh_token: 'none of ours' } }),
  },
};

describe.each(Object.entries(provocations))('%s', (name, table) => {
  const route = routes[name as Operation];

  test('has a provocation for every code that it declares, and for no other', () => {
    const provoked = new Set(Object.keys(table).map((key) => key.split(' ')[0]));
    expect([...provoked].sort()).toEqual([...route.errors].sort());
  });

  test.each(Object.entries(table))('answers %s as the document says', async (key, provoke) => {
    const [code, status] = key.split(' ');
    const answer = await provoke();
    expect(answer.json.error_code).toBe(code);
    if (status !== undefined) expect(answer.status).toBe(Number(status));
    expect(checker.answerFault({ path: openApiPath(route.path), method: route.method }, answer)).toBeUndefined();
  });
});

test('every operation that declares errors is provoked', () => {
  const declaring = Object.entries(routes).filter(([, { errors }]) => errors.length > 0);
  expect(Object.keys(provocations).sort()).toEqual(declaring.map(([name]) => name).sort());
});
