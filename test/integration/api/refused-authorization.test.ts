import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { logOut, newSession } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { insertInvite, joinByInvite } from '../../support/api/groups.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { keepConnections, type SentRequest } from '../../support/http-client.ts';
import { countEvents, type Line, type RecordedLog, recordLog } from '../../support/recorded-log.ts';

const cheap = { ARGON2_MEMORY_KIB: '8', ARGON2_PASSES: '1', TRUST_PROXY_HOPS: '1' };

let time = 0;
let log: RecordedLog;
let api: TestApi;
beforeAll(async () => {
  log = recordLog('api');
  api = await startTestApi(cheap, { now: () => Date.now() + time }, log.logger);
});
afterEach(() => void log.lines.splice(0));
afterAll(() => api.close());

/** Each test's refusals come from a separate network, so that none is left out of the audit log. */
let network = 0;
beforeEach(() => {
  network += 1;
});
const from = (address = `203.0.${network}.77`) => ({ 'X-Forwarded-For': address, 'X-Request-ID': 'request-1' });
const listSessions = (headers: Record<string, string>) => api.listSessions(headers);
const refused = (reason: string, route: string, rest: object): Line => ({
  event: 'authorization.failed',
  outcome: 'failure',
  reason,
  route,
  request_id: 'request-1',
  address: `203.0.${network}.0/24`,
  ...rest,
});
const counted = (code: string) => api.metric('auth_authorization_failures_total', { code });

test('a request without a valid token is an audit event that names nobody', async () => {
  const before = await counted('IAD_JWT_ACCESS_INVALID');
  for (const authorization of [{}, { Authorization: 'Basic x' }, bearer('hunter2'), bearer('a.b.c')]) {
    log.lines.splice(0);
    expect((await listSessions({ ...from(), ...authorization })).status).toBe(401);
    expect(log.takeEvents()).toEqual([refused('IAD_JWT_ACCESS_INVALID', '/api/v1/auth/sessions', {})]);
  }
  expect(await counted('IAD_JWT_ACCESS_INVALID')).toBe(before + 4);
});

// guarantees: refusals-audited
test('an expired token is an audit event that names its user and session', async () => {
  const { user_id, session_id, access_token } = await newSession(api);
  const before = await counted('IAD_JWT_ACCESS_EXPIRED');
  log.lines.splice(0);
  time += 3_600_000;
  expect((await listSessions({ ...from(), ...bearer(access_token) })).status).toBe(401);
  time -= 3_600_000;
  expect(log.takeEvents()).toEqual([
    refused('IAD_JWT_ACCESS_EXPIRED', '/api/v1/auth/sessions', { user_id, session_id }),
  ]);
  expect(await counted('IAD_JWT_ACCESS_EXPIRED')).toBe(before + 1);
});

// guarantees: refusals-audited
test('a token of a revoked session is an audit event that names the session', async () => {
  const session = await newSession(api);
  const { user_id, session_id, access_token } = session;
  await logOut(api, session);
  log.lines.splice(0);
  expect((await listSessions({ ...from(), ...bearer(access_token) })).status).toBe(401);
  expect(log.takeEvents()).toEqual([
    refused('IAD_JWT_ACCESS_INVALID', '/api/v1/auth/sessions', { user_id, session_id }),
  ]);
});

test('an action of the owner that a member tries is an audit event that names the route', async () => {
  const owner = await newSession(api);
  const member = await joinByInvite(api, await insertInvite(api, owner.home_group_id));
  const { user_id, session_id, access_token } = member;
  const before = await counted('ERR-GROUP-OWNER-REQUIRED');
  log.lines.splice(0);
  const headers = { ...from(), ...bearer(access_token) };
  expect((await api.revokeInvite({ token: randomUUID() }, headers)).status).toBe(403);
  expect(log.takeEvents()).toEqual([
    refused('ERR-GROUP-OWNER-REQUIRED', '/api/v1/invites/:token', { user_id, session_id }),
  ]);
  expect(await counted('ERR-GROUP-OWNER-REQUIRED')).toBe(before + 1);
});

test('a wrong password and an unknown refresh token are audit events of their own, no failed authorizations', async () => {
  await api.logIn({ email: 'nobody@example.com', password: 'wrong password' }, from());
  await api.refreshTokens({ refresh_token: 'none of ours' }, from());
  expect(log.takeEvents().map(({ event }) => event)).toEqual(['login.failed', 'refresh.expired']);
});

interface FloodOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly start?: typeof startTestApi;
  /** Milliseconds by which the api's clock is ahead. */
  readonly ahead?: number;
  /** Connections. */
  readonly lanes?: number;
}

/**
 * Sends `count` requests to a separate api over several connections, and stops the api, so that it writes what it held
 * back. Returns its audit log and its metrics.
 */
async function flood(
  times: number,
  request: (index: number) => SentRequest,
  { env = {}, start = startTestApi, ahead = 0, lanes = 20 }: FloodOptions = {},
) {
  const own = recordLog('api');
  const flooded = await start({ ...cheap, ...env }, { now: () => Date.now() + ahead }, own.logger);
  const agent = keepConnections({ maxSockets: lanes });
  let sent = 0;
  const lane = async () => {
    while (sent < times) {
      sent += 1;
      await flooded.send({ ...request(sent), agent });
    }
  };
  try {
    await Promise.all(Array.from({ length: lanes }, lane));
  } finally {
    agent.destroy();
    await flooded.close();
  }
  return { lines: own.takeEvents(), metric: flooded.metric };
}

const currentGroup = (address: string, token: string): SentRequest => ({
  method: 'GET',
  path: '/api/v1/groups/current',
  headers: { ...from(address), ...bearer(token) },
});

/**
 * Returns the number of windows of the audit log in which these lines were written. Each window ends with a line about
 * the events that were left out. Only the last window may be too short for such a line.
 */
function windowsOf(lines: readonly Line[]): number {
  const ends = lines.filter(({ suppressed }) => suppressed !== undefined);
  return ends.length + (ends.length > 0 && ends.at(-1) === lines.at(-1) ? 0 : 1);
}
/** Ten lines, and the one about the events that were left out. */
const linesOfWindow = 11;

// guarantees: refusal-flood-sampled
test.each([
  ['one network', 200, (index: number) => `198.51.100.${index % 250}`, linesOfWindow],
  // A window separates a hundred networks, of which each sends three.
  ['many networks', 450, (index: number) => `10.1.${index % 150}.1`, 3 * 100 + linesOfWindow],
])(
  'bad tokens of %s write a bounded number of audit lines, which stand for all of them',
  async (_, count, addressOf, max) => {
    const { lines, metric } = await flood(count, (index) => currentGroup(addressOf(index), `a.b.${index}`));
    const code = 'IAD_JWT_ACCESS_INVALID';
    expect(await metric('auth_authorization_failures_total', { code })).toBe(count);
    expect(new Set(lines.map(({ event, reason }) => `${event} ${reason}`))).toEqual(
      new Set([`authorization.failed ${code}`]),
    );
    expect(countEvents(lines)).toBe(count);
    expect(lines.length).toBeLessThanOrEqual(windowsOf(lines) * max);
  },
);

test('expired tokens write no more audit lines for coming from many networks', async () => {
  const { access_token } = await newSession(api);
  const request = (index: number) => currentGroup(`10.1.${index % 250}.1`, access_token);
  const { lines, metric } = await flood(250, request, { start: api.beside, ahead: 3_600_000 });
  const code = 'IAD_JWT_ACCESS_EXPIRED';
  expect(await metric('auth_authorization_failures_total', { code })).toBe(250);
  expect(countEvents(lines)).toBe(250);
  expect(lines.length).toBeLessThanOrEqual(windowsOf(lines) * linesOfWindow);
  expect(lines).toContainEqual(expect.objectContaining({ reason: code, address: 'various' }));
});

// guarantees: refusal-flood-sampled
test('a flood of refreshes, refused with 429 in the end, writes few audit lines of either kind', async () => {
  const body = { refresh_token: 'none of ours' };
  const request = () => ({ path: '/api/v1/auth/refresh', body, headers: from('192.0.2.1') });
  // Many connections, because the api makes a refused client wait for a second on each.
  const { lines, metric } = await flood(100, request, { env: { REFRESH_LIMIT_PER_ADDRESS: '40' }, lanes: 100 });
  const limited = await metric('auth_rate_limited_total', { rule: 'refresh_address' });
  const expired = await metric('auth_refreshes_total', { outcome: 'expired' });
  expect(limited + expired).toBe(100);
  for (const [event, count] of [['limit.exceeded', limited] as const, ['refresh.expired', expired] as const]) {
    const written = lines.filter((line) => line.event === event);
    expect(countEvents(written)).toBe(count);
    expect(written.length).toBeLessThanOrEqual(windowsOf(written) * linesOfWindow);
  }
});
