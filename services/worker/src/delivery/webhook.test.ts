import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { createRegisteredEvent } from '@auth-account/messaging';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { createWebhookSender, retryAfterMs } from './webhook.ts';

const [secret, next] = [1, 2].map((byte) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`) as [string, string];
const event = createRegisteredEvent(
  {
    user_id: '0190a3b4-c5d6-7000-8000-000000000001',
    home_group_id: '3f2f1c5e-8a58-4a53-9d0e-0d9a4b7a5c11',
    account_type: 'HOME',
    space_creation_mode: 'CREATE_NEW_HOME',
    is_new_group: true,
    registered_at: '2026-01-02T03:04:05.000Z',
  },
  {
    id: '0190a3b4-c5d6-7000-8000-000000000002',
    requestId: 'request-1',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  },
);

const endings: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function listen(server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endings.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/events?from=auth`;
}

/** Starts a subscriber that answers a request with these bytes, and then calls `after`. */
function answering(bytes: string, after: (socket: Socket) => void = () => undefined): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined).once('data', () => socket.write(bytes, () => after(socket)));
  });
  return listen(server);
}

function openSender(url: string, options: Partial<Parameters<typeof createWebhookSender>[0]> = {}) {
  const settings = { timeoutMs: 60_000, connectTimeoutMs: 60_000, connections: 2, now: () => new Date() };
  const sender = createWebhookSender({ subscriber: { url, secret }, ...settings, ...options });
  endings.push(() => sender.close());
  return sender;
}

function sendTo(...given: Parameters<typeof openSender>) {
  const sender = openSender(...given);
  return (stop = new AbortController().signal) => sender.send(event, stop);
}

const head = (status: string, ...headers: string[]) => `HTTP/1.1 ${[status, ...headers].join('\r\n')}\r\n\r\n`;

describe('attempts at a webhook that succeed', () => {
  test('an attempt succeeds with any 2xx, even if the body breaks off, never ends or is enormous', async () => {
    const flood = (socket: Socket) => {
      const more = () => !socket.destroyed && socket.write(`10000\r\n${'x'.repeat(0x10000)}\r\n`, more);
      more();
    };
    const urls = await Promise.all([
      answering(head('204 No Content')),
      answering(`${head('200 OK', 'Content-Length: 100')}half of it`, (socket) => socket.destroy()),
      answering(`${head('202 Accepted', 'Content-Length: 100')}and then nothing`),
      answering(head('200 OK', 'Transfer-Encoding: chunked'), flood),
    ]);
    const answers = urls.map((url) => sendTo(url, { timeoutMs: 3_600_000 })());
    expect(await Promise.all(answers)).toEqual([204, 200, 202, 200]);
  });

  test('an attempt reuses its connection, unless a body is enormous', async () => {
    const bodies = ['x'.repeat(10_000), '', 'x'.repeat(70_000), 'the last'];
    const connections: (Socket | null)[] = [];
    const server = createHttpServer((request, response) => {
      const body = bodies[connections.push(request.socket) - 1] ?? '';
      response.writeHead(200, { 'content-length': body.length }).flushHeaders();
      request.resume().on('end', () => setTimeout(() => response.end(body), 20));
    });
    const send = sendTo(await listen(server), { connections: 1, timeoutMs: 60_000 });
    for (const _ of bodies) await send();
    const [first, ...others] = connections;
    expect(others.map((socket) => socket === first)).toEqual([true, true, false]);
  });

  test('attempts use no more connections than are allowed', async () => {
    let connections = 0;
    const server = createHttpServer((request, response) => {
      request.resume().on('end', () => setImmediate(() => response.writeHead(204).end()));
    }).on('connection', () => {
      connections += 1;
    });
    const send = sendTo(await listen(server), { connections: 2 });
    expect(await Promise.all([send(), send(), send(), send()])).toEqual([204, 204, 204, 204]);
    expect(connections).toBe(2);
  });

  // guarantees: signed-webhook
  test('each secret signs an attempt, the first one first', async () => {
    const signatures: string[] = [];
    const verify: boolean[] = [];
    let headers: Record<string, string> = {};
    let body = '';
    const server = createHttpServer(async (request, response) => {
      body = await text(request);
      headers = request.headers as Record<string, string>;
      signatures.push(headers['webhook-signature'] ?? '');
      for (const one of [secret, next]) verify.push(Boolean(new Webhook(one).verify(body, headers)));
      response.writeHead(204).end();
    });
    const url = await listen(server);
    await sendTo(url, { subscriber: { url, secrets: [next, secret] } })();
    const [first, second, ...others] = signatures.join().split(' ');
    expect([first, second, others]).toEqual([expect.stringMatching(/^v1,/), expect.stringMatching(/^v1,/), []]);
    expect(first).not.toBe(second);
    expect(verify).toEqual([true, true]);
    // A CloudEvent in structured mode.
    expect(JSON.parse(body)).toEqual(event);
    expect(headers).toMatchObject({
      'webhook-id': event.id,
      'content-type': 'application/cloudevents+json; charset=utf-8',
      'user-agent': 'auth-account-worker',
      'x-request-id': 'request-1',
      traceparent: event.traceparent,
    });
  });
});

describe('attempts at a webhook that fail', () => {
  // guarantees: signed-webhook
  test.each([
    ['a redirect, which is not followed', head('302 Found', 'Location: http://127.0.0.1:1/'), 302, undefined],
    ['the first status that is no success', head('300 Multiple Choices'), 300, undefined],
    ['500', head('500 Internal Server Error', 'Retry-After: 5'), 500, undefined],
    ['410', head('410 Gone'), 410, undefined],
    ['429 that asks for a pause', head('429 Too Many Requests', 'Retry-After: 7'), 429, 7_000],
    ['503 that asks for a pause', head('503 Service Unavailable', 'Retry-After: 0'), 503, 0],
  ])('an attempt fails with %s', async (_what, answer, status, retryAfterMs) => {
    const url = await answering(answer, (socket) => socket.end());
    await expect(sendTo(url)()).rejects.toMatchObject({ message: `answered ${status}`, status, retryAfterMs });
  });

  test('an attempt fails if the subscriber closes in the middle of its headers', async () => {
    const url = await answering('HTTP/1.1 200 OK\r\nContent-Le', (socket) => socket.end());
    const error = await sendTo(url)().catch((failure: unknown) => failure);
    expect(error).toMatchObject({ name: 'DeliveryError', message: 'no answer: UND_ERR_SOCKET', status: undefined });
    expect(error).toHaveProperty('cause.code', 'UND_ERR_SOCKET');
  });

  test('an attempt fails if the headers are endless', async () => {
    const url = await answering(`HTTP/1.1 200 OK\r\n${'X-Filler: abcdefghijklmnopqrstuvwxyz\r\n'.repeat(1_000)}`);
    await expect(sendTo(url)()).rejects.toThrow('no answer: UND_ERR_HEADERS_OVERFLOW');
  });

  test('an attempt fails if the answer is no HTTP, or nothing listens', async () => {
    await expect(sendTo(await answering('220 mail.example ESMTP\r\n'))()).rejects.toThrow(
      'no answer: Response does not match the HTTP/1.1 protocol',
    );
    await expect(sendTo('http://127.0.0.1:1/events')()).rejects.toThrow('no answer: ECONNREFUSED');
  });

  test('an attempt fails if there is no answer in time, or the worker stops', async () => {
    const url = await answering('');
    await expect(sendTo(url, { timeoutMs: 100 })()).rejects.toThrow(
      'no answer: The operation was aborted due to timeout',
    );
    await expect(sendTo(url)(AbortSignal.timeout(50))).rejects.toThrow('no answer: ');
  });

  test('an attempt fails if the sender is closed meanwhile', async () => {
    const asked = Promise.withResolvers<void>();
    const server = createServer(
      (socket) => void socket.on('error', () => undefined).once('data', () => asked.resolve()),
    );
    const sender = openSender(await listen(server));
    const failed = expect(sender.send(event, new AbortController().signal)).rejects.toThrow('UND_ERR_DESTROYED');
    await asked.promise;
    await sender.close();
    await failed;
  });
});

test.each([
  ['120', 120_000],
  ['0', 0],
  ['Fri, 02 Jan 2026 03:05:05 GMT', 60_000],
  ['Fri, 02 Jan 2026 03:00:00 GMT', 0],
  ['Friday, 02-Jan-26 03:05:05 GMT', 60_000],
  ['soon', undefined],
  ['soon 5', undefined],
  ['Fri Jan  2 03:05:05 2026', 60_000],
  ['Sunny 2030', undefined],
  ['Fri, 02 Abc 2026 03:05:05 GMT', undefined],
  ['2026-01-02T03:05:05Z', undefined],
  ['120s', undefined],
  ['a120', undefined],
  ['', undefined],
  [undefined, undefined],
  [['1', '2'], undefined],
])('the answer’s Retry-After %j asks for %j ms', (header, expected) => {
  expect(retryAfterMs(header, new Date('2026-01-02T03:04:05Z'))).toBe(expected);
});
