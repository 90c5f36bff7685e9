import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createHttpServer, type HttpServer } from './http-server.ts';

let server: HttpServer;
let begun: PromiseWithResolvers<void>;
const clients: Socket[] = [];
const keptBriefly = { keepAliveSeconds: 7 };

async function serve(answerAfterMs = 0): Promise<number> {
  begun = Promise.withResolvers();
  server = createHttpServer(async (_request, response) => {
    begun.resolve();
    await sleep(answerAfterMs);
    response.end('ok');
  }, keptBriefly);
  return (await server.listen(0, '127.0.0.1')).port;
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
    async ask(): Promise<string> {
      got = '';
      socket.write('GET / HTTP/1.1\r\nHost: test\r\n\r\n');
      while (!got.endsWith('ok')) await sleep(2);
      return got;
    },
  };
}

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await server.drain(0);
});

test('the server says for how long it keeps an idle connection', async () => {
  expect(await keepConnection(await serve()).ask()).toMatch(/^Keep-Alive: timeout=7\r$/m);
});

test('a client that does not read its answer is disconnected, and one that reads or still waits is not', async () => {
  // Server and clients share this process, whose stalls must be shorter.
  const [answer, takenForMs] = [Buffer.alloc(64 * 1_048_576), 3_000];
  const cut = Promise.withResolvers<void>();
  server = createHttpServer(
    async ({ url, socket }, response) => {
      if (url === '/unread') socket.once('close', cut.resolve);
      if (url === '/late') await cut.promise;
      response.end(answer);
    },
    { ...keptBriefly, takenForMs },
  );
  const { port } = await server.listen(0, '127.0.0.1');
  const ask = (path: string) => {
    const client = connect(port, '127.0.0.1');
    clients.push(client);
    client.write(`GET ${path} HTTP/1.1\r\nHost: test\r\n\r\n`);
    return client;
  };
  const [unread, late] = [ask('/unread'), ask('/late')];
  unread.pause();
  late.on('data', () => undefined);
  await cut.promise;
  while (late.bytesRead < answer.length && !late.closed) await sleep(5);
  expect(late.bytesRead).toBeGreaterThan(answer.length);
  expect(unread.bytesRead).toBeLessThan(answer.length);
});

describe('drain of the server', () => {
  test('a drain answers a kept connection once more and closes it with that answer', async () => {
    const kept = keepConnection(await serve());
    expect(await kept.ask()).toMatch(/^Connection: keep-alive\r$/m);
    const drained = server.drain();
    expect(await kept.ask()).toMatch(/^Connection: close\r$/m);
    await kept.closed;
    await drained;
  });

  test('a drain cuts a kept connection that is unused for two seconds, and accepts new ones until then', async () => {
    const port = await serve();
    const kept = keepConnection(port);
    await kept.ask();
    const start = performance.now();
    const drained = server.drain();
    expect(await keepConnection(port).ask()).toMatch(/^Connection: close\r$/m);
    await drained;
    const took = (await kept.closed) - start;
    expect(took).toBeGreaterThan(1_900);
    expect(took).toBeLessThan(15_000);
  });

  test.each([
    ['while kept connections have time', 2_000],
    ['after they have been cut', 50],
  ])('a drain lets a running request end, and its connection with the answer: %s', async (_, retireForMs) => {
    const kept = keepConnection(await serve(400));
    const answer = kept.ask();
    await begun.promise;
    let isDrained = false;
    const drained = server.drain(retireForMs).then(() => {
      isDrained = true;
    });
    await sleep(200);
    expect(isDrained).toBe(false);
    expect(await answer).toMatch(/^Connection: close\r$/m);
    await drained;
  });

  test('a drain ends at once if there is no connection', async () => {
    await serve();
    await server.drain(3_600_000);
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
    }, keptBriefly);
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
    while (taken.length < 16) await sleep(2);
    answer();
    while (got.split('HTTP/1.1 200 OK').length < 17) await sleep(2);
  });

  test('more than sixteen pipelined requests end their connection, and none of them is handled', async () => {
    const { socket, taken } = await serveLate();
    socket.on('error', () => undefined);
    socket.write(request.repeat(2_000));
    await once(socket, 'close');
    expect(taken).toHaveLength(16);
  });

  test('pipelined requests are forgotten with their connection', async () => {
    const { socket, taken } = await serveLate();
    socket.write(request.repeat(2));
    while (taken.length < 2) await sleep(2);
    socket.destroy();
    await once(taken[0] as ServerResponse, 'close');
    await server.drain(0);
    // `drain` changes only answers of open connections.
    expect(taken.map(({ shouldKeepAlive }) => shouldKeepAlive)).toEqual([true, true]);
  });
});
