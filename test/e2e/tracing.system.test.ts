import { randomUUID } from 'node:crypto';
import { routes } from '@auth-account/contracts';
import type { Span } from '@auth-account/playground/otlp-spans';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { logIn, logOut, newEmail, newSession, password } from '../support/api/accounts.ts';
import { bearer, requestTo } from '../support/api/api-driver.ts';
import {
  changeEmail,
  codeOf,
  confirmReset,
  requestReset,
  requestVerification,
  undoTokenOf,
} from '../support/api/codes.ts';
import { openSocket } from '../support/gateway/raw-connection.ts';
import { send } from '../support/http-client.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../support/otlp-receiver.ts';
import { startTestStack, type TestStack } from '../support/processes/test-stack.ts';
import { withFailPoint } from '../support/stores/fail-point.ts';
import { cheapHashes, testEnvironment } from '../support/test-environment.ts';
import { dueRow } from '../support/worker/worker-events.ts';
import { eventually } from '../support/worker/worker-fixture.ts';

const appName = 'traced';

let otlp: OtlpReceiver;
let stack: TestStack;
beforeAll(async () => {
  otlp = await startOtlpReceiver();
  stack = await startTestStack({
    ...cheapHashes,
    MONGODB_URI: `${testEnvironment().mongodbUri}&appName=${appName}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_BSP_SCHEDULE_DELAY: '100',
    ACCOUNT_DELETION_GRACE_DAYS: '0',
    ERASURE_DELAY_SECONDS: '0',
  });
});
afterAll(async () => {
  await stack.close();
  await otlp.close();
});

/** Returns the names of a span's ancestors and of the span, each after the name of its service. */
function pathOf(span: Span, spans: readonly Span[]): string[] {
  const parent = spans.find(({ id }) => id === span.parentId);
  return [...(parent ? pathOf(parent, spans) : []), `${span.service} ${span.name}`];
}

/** Returns the api's lines about one request, when its access line is there. */
async function linesOf(requestId: string): Promise<Record<string, unknown>[]> {
  const lines = () => stack.logs.api.filter((line) => line.includes(requestId)).map((line) => JSON.parse(line));
  await eventually('the access line', () => lines().some(({ msg }) => msg === 'request'));
  return lines();
}

/** Returns the spans of one request, when the named ones and all their ancestors have arrived. */
async function spansOf(requestId: string, ...last: [service: string, name: string][]): Promise<Span[]> {
  const ofRequest = (received: readonly Span[]) =>
    received.filter(({ attributes }) => attributes['request.id'] === requestId);
  const has = (spans: readonly Span[], service: string, name: string) => {
    const found = spans.find((span) => span.service === service && span.name === name);
    return found !== undefined && pathOf(found, spans)[0]?.startsWith('auth-api POST');
  };
  const spans = await otlp.waitFor((received) => {
    const own = ofRequest(received);
    return last.every(([service, name]) => has(own, service, name));
  });
  return ofRequest(spans);
}

describe('a registration', () => {
  let requestId: string;
  let spans: Span[];
  let webhook: Awaited<ReturnType<TestStack['receiver']['waitFor']>>;
  beforeAll(async () => {
    requestId = `phone-${randomUUID()}`;
    const answer = await stack.registerAccount(
      { email: newEmail(), password, space_creation_mode: 'CREATE_NEW_HOME' },
      { 'X-Request-ID': requestId },
    );
    webhook = await stack.receiver.waitFor(answer.json.data.user_id);
    spans = await spansOf(requestId, ['auth-worker', 'event.deliver'], ['auth-api', 'POST /api/v1/auth/register']);
  });

  test('a registration is one trace from the request to the webhook, and every span names the request', () => {
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    const inTrace = otlp.spans().filter(({ traceId }) => traceId === spans[0]?.traceId);
    expect(inTrace.filter(({ attributes }) => attributes['request.id'] !== requestId)).toEqual([]);
    const delivery = spans.find(({ name }) => name === 'event.deliver');
    const path = delivery ? pathOf(delivery, spans) : [];
    expect(path[0]).toBe('auth-api POST /api/v1/auth/register');
    expect(path.at(-1)).toBe('auth-worker event.deliver');
    expect(path.length).toBeGreaterThan(3);
  });

  test('the trace of a registration shows the hash, the transaction and each of its writes', () => {
    const names = spans.map(({ service, name }) => `${service} ${name}`);
    for (const name of ['password.hash', 'mongodb.transaction', 'insert users', 'insert groups', 'insert outbox']) {
      expect(names).toContain(`auth-api ${name}`);
    }
    const insert = spans.find(({ name }) => name === 'insert outbox');
    expect(insert && pathOf(insert, spans)).toContain('auth-api mongodb.transaction');
  });

  test('the span of a command names the store, its database and collection, and no value', () => {
    const insert = spans.find(({ name }) => name === 'insert users');
    const [host, port] = new URL(testEnvironment().mongodbUri).host.split(':');
    expect(insert?.attributes).toEqual({
      'db.system.name': 'mongodb',
      'db.operation.name': 'insert',
      'db.namespace': stack.collections.users.dbName,
      'db.collection.name': 'users',
      'server.address': host,
      'server.port': Number(port),
      'request.id': requestId,
      'span.sequence': expect.any(Number),
    });
    const script = spans.find(({ service, name }) => service === 'auth-api' && /^eval/.test(name));
    expect(script?.attributes).toMatchObject({ 'db.system.name': 'redis', 'server.port': stack.redis.port });
  });

  test('a trace names of a webhook nothing but its origin: its path may be a secret', () => {
    const request = spans.find(({ service, name }) => service === 'auth-worker' && name === 'POST');
    expect(request?.attributes).toMatchObject({
      'url.full': new URL(stack.receiver.subscriber.url).origin,
      'url.path': '/…',
      'url.query': '',
    });
  });

  test('a registration’s trace is carried on to the subscriber by one X-Request-ID and one traceparent', () => {
    const { headers, event } = webhook;
    expect(headers['x-request-id']).toBe(requestId);
    expect(headers.traceparent).toMatch(new RegExp(`^00-${spans[0]?.traceId}-[0-9a-f]{16}-01$`));
    expect(event.requestid).toBe(requestId);
    expect(event.traceparent).toContain(String(spans[0]?.traceId));
  });
});

test('the span of a failed command has the store’s code, and not its message, which quotes values', async () => {
  const requestId = `phone-${randomUUID()}`;
  const mongo = new MongoClient(testEnvironment().mongodbUri);
  const { namespace } = stack.collections.users;
  await withFailPoint(mongo, { times: 1 }, { failCommands: ['find'], errorCode: 8_000, namespace, appName }, () =>
    stack.logIn({ email: newEmail(), password }, { 'X-Request-ID': requestId }),
  );
  await mongo.close();
  const spans = await spansOf(requestId, ['auth-api', `POST ${routes.logIn.path}`]);
  const failed = spans.find(({ name, hasFailed }) => name === 'find users' && hasFailed);
  expect(failed?.attributes).toMatchObject({ 'error.type': 'MongoServerError', 'db.response.status_code': '8000' });
  expect(otlp.raw()).not.toContain('Failing command');
});

test('an event that the relay enqueues stays in the trace of its request', async () => {
  const { event, ...row } = dueRow();
  await stack.collections.outbox.insertOne({ ...row, event });
  await stack.receiver.waitFor(event.data.user_id);
  const inTrace = (spans: readonly Span[]) =>
    spans.filter(({ traceId }) => traceId === event.traceparent?.split('-')[1]);
  // The spans between the first and the last may come in later exports.
  const isLinked = (all: readonly Span[]) => {
    const own = inTrace(all);
    const last = own.find(({ name }) => name === 'event.deliver');
    return last !== undefined && pathOf(last, own).includes('auth-worker outbox.relay');
  };
  const spans = inTrace(await otlp.waitFor(isLinked));
  const delivery = spans.find(({ name }) => name === 'event.deliver');
  const attributes = { 'event.id': event.id, 'event.subscriber': 'analytics', 'request.id': event.requestid };
  expect(delivery?.attributes).toMatchObject({ ...attributes, 'event.attempt': 1 });
  const relay = spans.find(({ name }) => name === 'outbox.relay');
  expect(relay?.attributes).toMatchObject({ ...attributes, 'outbox.attempts': 1 });
});

test('a logout is one trace from the request to the close of the stream', async () => {
  const session = await newSession(stack);
  const stream = await stack.openStream(session);
  const requestId = `phone-${randomUUID()}`;
  const { access_token, refresh_token } = session;
  await stack.logOut({ refresh_token }, { ...bearer(access_token), 'X-Request-ID': requestId });
  expect(await stream.closed).toMatchObject({ code: 1000 });
  const spans = await spansOf(requestId, ['auth-push-gateway', 'push.close'], ['auth-api', 'POST /api/v1/auth/logout']);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  const close = spans.find(({ name }) => name === 'push.close');
  expect(close && pathOf(close, spans)[0]).toBe('auth-api POST /api/v1/auth/logout');
  expect(spans.map(({ name }) => name)).toContain('access_token.verify');
});

test('a trace that the app began is continued', async () => {
  const traceId = randomUUID().replaceAll('-', '');
  const requestId = `phone-${randomUUID()}`;
  const headers = { 'X-Request-ID': requestId, traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
  await stack.refreshTokens({ refresh_token: 'none' }, headers);
  const spans = await spansOf(requestId, ['auth-api', 'POST /api/v1/auth/refresh']);
  expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
});

test('a trace that the app does not keep leaves no span; its id and that decision are carried on', async () => {
  const traceId = randomUUID().replaceAll('-', '');
  const [requestId, next] = [`phone-${randomUUID()}`, `phone-${randomUUID()}`];
  const register = async (carried: Record<string, string>) => {
    const body = { email: newEmail(), password, space_creation_mode: 'CREATE_NEW_HOME' };
    const { json } = await stack.registerAccount(body, carried);
    return await stack.receiver.waitFor(json.data.user_id);
  };
  const carried = { 'X-Request-ID': requestId, traceparent: `00-${traceId}-00f067aa0ba902b7-00` };
  const { headers, event } = await register(carried);
  const unkept = expect.stringMatching(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
  expect([headers['x-request-id'], headers.traceparent]).toEqual([requestId, unkept]);
  expect([event.requestid, event.traceparent]).toEqual([requestId, unkept]);
  expect(new Set((await linesOf(requestId)).map(({ trace_id }) => trace_id))).toEqual(new Set([traceId]));
  // Spans arrive in the order in which their service ended them.
  await register({ 'X-Request-ID': next });
  await spansOf(next, ['auth-worker', 'event.deliver'], ['auth-api', 'POST /api/v1/auth/register']);
  expect(otlp.raw()).not.toContain(requestId);
});

test.each(['01', '00'])(
  'the access line names the request’s own trace on a connection with others, flags %s',
  async (flags) => {
    const requests = [1, 2, 3].map(() => ({ id: `phone-${randomUUID()}`, traceId: randomUUID().replaceAll('-', '') }));
    const texts = requests.map(({ id, traceId }, index) => {
      // The client disconnects within the body of the last request.
      const length = index === 2 ? 100 : 2;
      const traceparent = `00-${traceId}-00f067aa0ba902b7-${flags}`;
      const headers = [`X-Request-ID: ${id}`, `traceparent: ${traceparent}`, 'Content-Type: application/json'];
      return [
        'POST /api/v1/auth/refresh HTTP/1.1',
        'Host: api',
        ...headers,
        `Content-Length: ${length}`,
        '',
        '{}',
      ].join('\r\n');
    });
    const socket = openSocket(stack.apiUrl);
    let answered = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      answered += chunk;
    });
    socket.write(texts.join(''));
    await eventually('two are answered', () => answered.split('HTTP/1.1 422').length === 3);
    socket.destroy();
    const lines = await Promise.all(requests.map(({ id }) => linesOf(id)));
    const access = lines.map((own) => own.find(({ msg }) => msg === 'request'));
    expect(access.map((line) => line?.trace_id)).toEqual(requests.map(({ traceId }) => traceId));
    expect(access.map((line) => line?.status)).toEqual([422, 422, 499]);
  },
);

test('histograms carry exemplars that lead to the trace', async () => {
  const session = await newSession(stack);
  const stream = await stack.openStream(session);
  await logOut(stack, session);
  await stream.closed;
  const exemplarsOf = async (service: 'api' | 'push-gateway' | 'worker', histogram: string) => {
    const headers = { accept: 'application/openmetrics-text; version=1.0.0' };
    const base = `http://127.0.0.1:${stack.opsPorts[service]}`;
    const { text } = await send(base, { method: 'GET', path: '/metrics', headers });
    const found = text.matchAll(new RegExp(`^${histogram}_bucket.* # {trace_id="(\\w+)"`, 'gm'));
    return Array.from(found, ([, traceId]) => traceId);
  };
  for (const [service, histogram] of [
    ['api', 'http_request_duration_seconds'],
    ['push-gateway', 'push_close_latency_seconds'],
    ['worker', 'auth_event_delivery_duration_seconds'],
  ] as const) {
    let traceIds: unknown[] = [];
    await eventually(`${histogram} has exemplars`, async () => {
      traceIds = await exemplarsOf(service, histogram);
      return traceIds.length > 0;
    });
    await otlp.waitFor((received) => traceIds.every((id) => received.some((span) => span.traceId === id)));
  }
});

// guarantees: no-secret-leaks
test('no span holds a code, an address, a name or a token of an account, to its erasure', async () => {
  const session = await newSession(stack);
  const { user_id, email } = session;
  const [display_name, new_email] = [`Anna ${randomUUID()}`, newEmail()];
  const headers = { ...bearer(session), 'Content-Type': 'application/json', 'X-Request-ID': 'phone-1' };
  const named = { ...requestTo('changeAccount', { display_name }), headers };
  const { status } = await send(stack.apiUrl, named);
  expect(status).toBe(200);
  const verification = await requestVerification(stack, session);
  await changeEmail(stack, session, new_email);
  const undo_token = await undoTokenOf(stack, user_id);
  await stack.exportAccount({ current_password: password }, bearer(session));
  expect((await stack.undoEmailChange({ undo_token })).status).toBe(200);
  const reset = await requestReset(stack, email);
  const codes = await Promise.all([verification, reset].map((id) => codeOf(stack, id)));
  expect((await confirmReset(stack, reset)).status).toBe(200);
  const again = await logIn(stack, email, { password: 'three wrong staples' });
  const requestId = `phone-${randomUUID()}`;
  const last = { ...bearer(again), 'X-Request-ID': requestId };
  const ordered = await stack.scheduleDeletion({ current_password: 'three wrong staples' }, last);
  expect(ordered.status).toBe(202);
  await eventually('it is erased', async () => (await stack.collections.users.findOne({ _id: user_id })) === null);
  await spansOf(requestId, ['auth-api', 'POST /api/v1/account/deletion']);
  const sent = otlp.raw();
  // The traces contain this id, so the search below would find a secret too.
  expect(sent).toContain(requestId);
  for (const hidden of [email, new_email, display_name, undo_token, again.access_token, again.refresh_token]) {
    expect(sent).not.toContain(hidden);
  }
  // Matches within longer numbers don't count, because a time may have the same digits.
  for (const code of codes) expect(sent).not.toMatch(new RegExp(`(?<![0-9a-f])${code}(?![0-9a-f])`));
});
