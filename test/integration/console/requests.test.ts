import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { waitUntil } from '@auth-account/local-stack';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startConsoleOn, startTestConsole } from '../../support/console/console-fixture.ts';
import { probeRoutes } from '../../support/console/probe-routes.ts';
import { begin, send } from '../../support/http-client.ts';
import { recordLog } from '../../support/recorded-log.ts';

const log = recordLog('console');
let console: Awaited<ReturnType<typeof startTestConsole>>;
beforeAll(async () => {
  console = await startTestConsole({}, { routes: probeRoutes, logger: log.logger });
});
afterAll(() => console.close());

test('a look at personal data comes with a reason, and is in the audit log with the member of staff', async () => {
  const client = await console.signIn('support');
  log.takeEvents();
  const id = randomUUID();
  const { status, json } = await client.get(`/api/probes/${id}?after=2`, 'Обращение №7');
  expect([status, json]).toEqual([
    200,
    {
      params: { id },
      query: { after: '2' },
      reason: 'Обращение №7',
      staff: { subject: 'support', name: 'A support', role: 'support' },
    },
  ]);
  expect(log.takeEvents()).toEqual([
    {
      event: 'console.looked_up',
      outcome: 'success',
      route: '/api/probes/:id',
      target: { id },
      reason: 'Обращение №7',
      staff: 'support',
      staff_name: 'A support',
      staff_role: 'support',
      request_id: expect.any(String),
    },
  ]);
});

test('an email address in a path is not in the log', async () => {
  const client = await console.signIn('support');
  log.takeEvents();
  await client.get('/api/probes/cook@example.com', 'ticket 7');
  expect(log.takeEvents()).toMatchObject([{ event: 'console.looked_up', target: { id: 'no id' } }]);
});

test('a change comes with token, origin, body and reason', async () => {
  const client = await console.signIn('operator');
  const { status, json } = await client.post('/api/probes', { text: 'x' }, 'ticket 7');
  expect([status, json]).toEqual([200, { body: { text: 'x' }, reason: 'ticket 7' }]);
});

test('an answer has the request id of the client, or a new one', async () => {
  const [own, wrong] = await Promise.all(
    ['ticket-7', 'not one'].map((id) =>
      send(console.base, { method: 'GET', path: '/api/me', headers: { 'x-request-id': id } }),
    ),
  );
  expect([own?.headers['x-request-id'], own?.json.error.request_id]).toEqual(['ticket-7', 'ticket-7']);
  expect(wrong?.headers['x-request-id']).toMatch(/^[\da-f-]{36}$/);
});

test('an unknown path of the api is an error as all are', async () => {
  const { status, json } = await send(console.base, { method: 'GET', path: '/api/nothing' });
  expect([status, json.error.code]).toEqual([404, 'unknown']);
});

test.each(['/', '/accounts/7', '/groups/7', '/requests/a/b', '/events/7', '/consents', '/consents/7', '/system'])(
  'the page is served at %s to everybody, because it has no data',
  async (path) => {
    const { status, text, headers } = await send(console.base, { method: 'GET', path });
    expect([status, text, headers['content-type']]).toEqual([200, '<!doctype html>', 'text/html; charset=utf-8']);
  },
);

test('every answer forbids other hosts, frames and caches', async () => {
  const paths = ['/', '/api/me', '/sign-in/callback', '/nothing'];
  for (const { headers } of await Promise.all(paths.map((path) => send(console.base, { method: 'GET', path })))) {
    expect(headers['content-security-policy']).toBe(
      "default-src 'none';script-src 'self';style-src 'self';connect-src 'self';img-src 'self' data:;base-uri 'none';form-action 'none';frame-ancestors 'none'",
    );
    expect(headers).toMatchObject({
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'strict-transport-security': expect.stringContaining('max-age='),
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'cache-control': expect.stringMatching(/^no-(store|cache)$/),
    });
    expect(headers['x-powered-by']).toBeUndefined();
  }
});

test('files of the page are sent compressed, and not again if they are the same', async () => {
  const readPage = async () =>
    new Map([['/console.js', { type: 'text/javascript; charset=utf-8', body: 'x'.repeat(5_000) }]]);
  const own = await startConsoleOn(console.fixture, {}, { readPage });
  const load = async (headers: Record<string, string>) => {
    const [answer] = (await once(begin(own.base, { path: '/console.js', headers }).end(), 'response')) as [
      IncomingMessage,
    ];
    return { status: answer.statusCode, headers: answer.headers, bytes: await buffer(answer) };
  };
  const found = await Promise.all(['br', 'gzip', 'identity'].map((encoding) => load({ 'accept-encoding': encoding })));
  expect(found.map(({ headers }) => headers['content-encoding'])).toEqual(['br', 'gzip', undefined]);
  const read = [brotliDecompressSync, gunzipSync, (bytes: Buffer) => bytes];
  expect(found.map(({ bytes }, index) => read[index]?.(bytes).length)).toEqual([5_000, 5_000, 5_000]);
  const etag = found[0]?.headers.etag ?? '';
  expect((await load({ 'if-none-match': etag })).status).toBe(304);
});

test('without Redis the console is not ready, and answers that it is not available', async () => {
  const broken = await startConsoleOn(console.fixture, {}, { routes: probeRoutes });
  const client = await broken.signIn('support');
  const [step] = broken.steps('redis');
  await step?.run();
  const isUnready = async () => (await broken.unreadiness()).join() === 'redis: connection is end';
  await waitUntil(isUnready, { what: 'the console to be unready', timeoutMs: 60_000 });
  const { status, json } = await client.get('/api/probes/7', 'ticket 7');
  expect([status, json.error.code]).toEqual([503, 'unavailable']);
});
