import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { routes } from '@auth-account/contracts';
import { waitUntil } from '@auth-account/local-stack';
import { createLogger } from '@auth-account/telemetry';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { logIn, newSession, password, registerAccount } from '../../support/api/accounts.ts';
import { openTokenFixture, type TokenApi, type TokenFixture } from '../../support/api/token-api.ts';
import { openSocket } from '../../support/gateway/raw-connection.ts';
import { type HoldingProxy, startHoldingProxy } from '../../support/stores/holding-proxy.ts';
import { mongodbAt, testEnvironment } from '../../support/test-environment.ts';

type Line = Readonly<Record<string, unknown>>;

let fixture: TokenFixture;
let api: TokenApi;
let proxy: HoldingProxy;
/** Another api, whose answers from MongoDB can be delayed. */
let slow: TokenApi;
/** The log of the slow api. */
const lines: Line[] = [];

beforeAll(async () => {
  fixture = await openTokenFixture();
  api = await fixture.start();
  proxy = await startHoldingProxy(Number(new URL(testEnvironment().mongodbUri).port));
  const { port } = new URL(proxy.url);
  const env = { MONGODB_URI: mongodbAt(Number(port)) };
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  slow = await fixture.start(env, createLogger({ service: 'api', level: 'debug', destination }));
});
beforeEach(() => void lines.splice(0));
afterAll(async () => {
  await fixture.close();
  await proxy.close();
});

/** Abandons a client's request. */
type GiveUp = (socket: Socket) => void;

interface Abandoned {
  readonly path: string;
  readonly body: object;
  readonly accessToken?: string;
  /** The command whose answer to the slow api is delayed. */
  readonly heldAt?: string;
  readonly giveUp: GiveUp;
  /** Runs when the slow api has noticed that the client is gone, but still waits for MongoDB. */
  readonly meanwhile?: () => Promise<void>;
}

const waitForLine = (wanted: Line) =>
  waitUntil(async () => lines.some((line) => Object.entries(wanted).every(([key, value]) => line[key] === value)), {
    what: `the line ${JSON.stringify(wanted)}`,
    timeoutMs: 60_000,
    intervalMs: 5,
  });

/**
 * Sends a request to the slow api, and disconnects while the api waits for MongoDB. Then `meanwhile` runs, MongoDB
 * answers, and the api finds that no client waits. Returns the request's id.
 */
async function abandon({ path, body, accessToken, heldAt = 'find', giveUp, meanwhile }: Abandoned): Promise<string> {
  const request_id = `abandoned-${randomUUID()}`;
  proxy.hold(heldAt);
  const socket = openSocket(slow.base);
  try {
    socket.resume().write(requestText(path, body, { 'X-Request-ID': request_id, accessToken }));
    await waitUntil(async () => proxy.held() > 0, { what: 'a question to MongoDB', timeoutMs: 60_000, intervalMs: 5 });
    giveUp(socket);
    await waitForLine({ request_id, msg: 'request', status: 499 });
    await meanwhile?.();
  } finally {
    proxy.release();
    socket.destroy();
  }
  await waitForLine({ request_id, msg: 'request abandoned' });
  return request_id;
}

/**
 * Returns a refresh that reads before it writes, like a refresh at the end of a block of hashes, and that is held at
 * the read. A usual refresh has written before an answer can be held, and later ones converge with it.
 */
async function refreshThatReads(session_id: string, refresh_token: string) {
  await fixture.collections.sessions.updateOne({ _id: session_id }, { $unset: { ahead: 1 } });
  // Matches a field `find` whose value is a text, because `findAndModify` is another command.
  return { path: '/api/v1/auth/refresh', body: { refresh_token }, heldAt: '\x02find\0' };
}

function requestText(path: string, body: object, sent: { 'X-Request-ID': string; accessToken: string | undefined }) {
  const payload = JSON.stringify(body);
  return [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(payload)}`,
    `X-Request-ID: ${sent['X-Request-ID']}`,
    ...(sent.accessToken === undefined ? [] : [`Authorization: Bearer ${sent.accessToken}`]),
    '',
    payload,
  ].join('\r\n');
}

describe.each<[string, GiveUp]>([
  ['ends its connection', (socket) => socket.end()],
  ['closes its socket', (socket) => socket.destroy()],
  ['resets its connection', (socket) => socket.resetAndDestroy()],
])('an app that gives up and %s', (_, giveUp) => {
  test('an abandoned login does not replace the login that followed', async () => {
    const { email } = await registerAccount(api);
    const device_id = randomUUID();
    const body = { email, password, device_id };
    let refreshToken = '';
    const meanwhile = async () => {
      refreshToken = (await logIn(api, email, { device_id })).refresh_token;
    };
    await abandon({ path: routes.logIn.path, body, giveUp, meanwhile });
    expect(await api.refresh(refreshToken)).toMatchObject({ status: 200 });
  });

  test('an abandoned refresh is no theft if it is carried out after the next refreshes', async () => {
    const { user_id, session_id, refresh_token } = await newSession(api);
    let newest = '';
    const meanwhile = async () => {
      const second = (await api.refresh(refresh_token)).json.data.refresh_token;
      const third = (await api.refresh(second)).json.data.refresh_token;
      newest = (await api.refresh(third)).json.data.refresh_token;
    };
    await abandon({ ...(await refreshThatReads(session_id, refresh_token)), giveUp, meanwhile });
    expect(await api.refresh(newest)).toMatchObject({ status: 200 });
    expect(lines.filter(({ audit }) => audit)).toMatchObject([{ event: 'refresh.abandoned', user_id, session_id }]);
  });

  test('an abandoned logout of all sessions ends no session', async () => {
    const { email, access_token: accessToken, refresh_token } = await newSession(api);
    const other = await logIn(api, email);
    await abandon({ path: '/api/v1/auth/logout-all', body: {}, accessToken, heldAt: 'update', giveUp });
    for (const token of [refresh_token, other.refresh_token]) {
      expect(await api.refresh(token)).toMatchObject({ status: 200 });
    }
  });

  test('an abandoned request to leave a group moves nobody', async () => {
    const { user_id, home_group_id, access_token: accessToken } = await newSession(api);
    await abandon({ path: '/api/v1/groups/leave', body: {}, accessToken, heldAt: 'update', giveUp });
    expect(await fixture.collections.users.findOne({ _id: user_id })).toMatchObject({ home_group_id });
  });

  test('an abandoned request logs no warning and no error', async () => {
    const { session_id, refresh_token } = await newSession(api);
    const meanwhile = async () => {
      const second = (await api.refresh(refresh_token)).json.data.refresh_token;
      await api.refresh((await api.refresh(second)).json.data.refresh_token);
    };
    const request_id = await abandon({ ...(await refreshThatReads(session_id, refresh_token)), giveUp, meanwhile });
    // A busy machine may cause warnings about other things.
    const own = lines.filter((line) => line.request_id === request_id || line.level === 'error');
    expect(own.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([]);
  });
});

test('an old refresh token whose client waits for the answer is theft as before', async () => {
  const { refresh_token } = await newSession(api);
  const second = (await api.refresh(refresh_token)).json.data.refresh_token;
  const third = (await api.refresh(second)).json.data.refresh_token;
  expect((await api.refresh(refresh_token)).json.error_code).toBe('IAD_JWT_REFRESH_STOLEN');
  expect((await api.refresh(third)).status).toBe(401);
});
