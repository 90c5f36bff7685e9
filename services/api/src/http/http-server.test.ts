import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createHttpServer, type HttpServer } from './http-server.ts';

let server: HttpServer;
const clients: Socket[] = [];
const keptLong = { keepAliveSeconds: 3_600 };
const hour = 3_600_000;

async function serve(options = keptLong): Promise<number> {
  server = createHttpServer((_request, response) => void response.end('ok'), options);
  return (await server.listen(0, '127.0.0.1')).port;
}

/** Waits until the condition holds, or fails when the connection is closed. */
async function until(socket: Socket, holds: () => boolean): Promise<void> {
  while (!holds()) {
    if (socket.closed) throw new Error('the connection was closed');
    await sleep(2);
  }
}

/** Opens a connection that stays open; `got` is all that was received on it. */
function keepConnection(port: number) {
  const socket = connect(port, '127.0.0.1');
  clients.push(socket);
  let got = '';
  socket.on('data', (chunk) => {
    got += chunk.toString();
  });
  const { promise: closed, resolve } = Promise.withResolvers<number>();
  socket.on('close', () => resolve(performance.now()));
  return {
    closed,
    isClosed: () => socket.closed,
    async ask(path = '/'): Promise<string> {
      got = '';
      socket.write(`GET ${path} HTTP/1.1\r\nHost: test\r\n\r\n`);
      await until(socket, () => got.endsWith('ok'));
      return got;
    },
  };
}

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await server.drain(0);
});

test('the server says for how long it keeps an idle connection', async () => {
  expect(await keepConnection(await serve({ keepAliveSeconds: 7 })).ask()).toMatch(/^Keep-Alive: timeout=7\r$/m);
});

test('a client that does not read its answer is disconnected, and one that still waits is not', async () => {
  // More than the system keeps for a client that does not read.
  const long = Buffer.alloc(32 * 1_048_576);
  const cut = Promise.withResolvers<void>();
  server = createHttpServer(
    async ({ url, socket }, response) => {
      if (url === '/unread') socket.once('close', cut.resolve);
      if (url === '/late') await cut.promise;
      // In one piece, for which no client has to read in time.
      response.end(url === '/late' ? 'ok' : long);
    },
    { ...keptLong, takenForMs: 200 },
  );
  const { port } = await server.listen(0, '127.0.0.1');
  const late = keepConnection(port).ask('/late');
  const unread = connect(port, '127.0.0.1');
  clients.push(unread);
  unread.write('GET /unread HTTP/1.1\r\nHost: test\r\n\r\n');
  unread.pause();
  await cut.promise;
  expect(await late).toMatch(/^HTTP\/1.1 200 OK\r$/m);
  expect(unread.bytesRead).toBeLessThan(long.length);
});

describe('drain of the server', () => {
  test('a drain answers a kept connection once more and closes it with that answer', async () => {
    const kept = keepConnection(await serve());
    expect(await kept.ask()).toMatch(/^Connection: keep-alive\r$/m);
    const drained = server.drain(hour);
    expect(await kept.ask()).toMatch(/^Connection: close\r$/m);
    await kept.closed;
    await drained;
  });

  test('a drain accepts new connections while kept ones may still send a request', async () => {
    const port = await serve();
    const kept = keepConnection(port);
    await kept.ask();
    const drained = server.drain(hour);
    expect(await keepConnection(port).ask()).toMatch(/^Connection: close\r$/m);
    expect(kept.isClosed()).toBe(false);
    await kept.ask();
    await drained;
  });

  test('a drain cuts a kept connection that is unused for two seconds', async () => {
    const kept = keepConnection(await serve());
    await kept.ask();
    const start = performance.now();
    const drained = server.drain();
    expect((await kept.closed) - start).toBeGreaterThan(1_900);
    await drained;
  });

  test.each([
    ['while kept connections have time', hour],
    ['after they have been cut', 50],
  ])('a drain lets a running request end, and its connection with the answer: %s', async (_, retireForMs) => {
    const begun = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    server = createHttpServer(async ({ url }, response) => {
      if (url === '/held') {
        begun.resolve();
        await held.promise;
      }
      response.end('ok');
    }, keptLong);
    const { port } = await server.listen(0, '127.0.0.1');
    const [running, kept] = [keepConnection(port), keepConnection(port)];
    const answer = running.ask('/held');
    await kept.ask();
    await begun.promise;
    let isDrained = false;
    const drained = server.drain(retireForMs).then(() => {
      isDrained = true;
    });
    if (retireForMs === hour) await kept.ask();
    await kept.closed;
    expect([isDrained, running.isClosed()]).toEqual([false, false]);
    held.resolve();
    expect(await answer).toMatch(/^Connection: close\r$/m);
    await drained;
  });

  test('a drain ends at once if there is no connection', async () => {
    await serve();
    await server.drain(hour);
  });
});

describe('pipelined requests', () => {
  const request = 'GET / HTTP/1.1\r\nHost: test\r\n\r\n';

  /** Starts a server that answers on command; `taken` lists the requests that it received. */
  async function serveLate() {
    const taken: ServerResponse[] = [];
    const answer = Promise.withResolvers<void>();
    server = createHttpServer(async (_request, response) => {
      taken.push(response);
      await answer.promise;
      response.end('ok');
    }, keptLong);
    const { port } = await server.listen(0, '127.0.0.1');
    const socket = connect(port, '127.0.0.1');
    clients.push(socket);
    return { socket, taken, answer: answer.resolve };
  }

  test('pipelined requests are answered, sixteen on one connection', async () => {
    const { socket, taken, answer } = await serveLate();
    let got = '';
    socket.on('data', (chunk) => {
      got += chunk.toString();
    });
    socket.write(request.repeat(16));
    await until(socket, () => taken.length === 16);
    answer();
    await until(socket, () => got.split('HTTP/1.1 200 OK').length === 17);
  });

  test('more than sixteen pipelined requests end their connection, and none of them is handled', async () => {
    const { socket, taken } = await serveLate();
    socket.on('error', () => undefined);
    socket.write(request.repeat(200));
    await once(socket, 'close');
    expect(taken).toHaveLength(16);
  });

  test('pipelined requests are forgotten with their connection', async () => {
    const { socket, taken } = await serveLate();
    socket.write(request.repeat(2));
    await until(socket, () => taken.length === 2);
    socket.destroy();
    await once(taken[0] as ServerResponse, 'close');
    await server.drain(0);
    // `drain` changes only answers of open connections.
    expect(taken.map(({ shouldKeepAlive }) => shouldKeepAlive)).toEqual([true, true]);
  });
});
