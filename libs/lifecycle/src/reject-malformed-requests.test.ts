import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { rejectMalformedRequests } from './reject-malformed-requests.ts';

let server: Server;
beforeAll(async () => {
  server = createServer(rejectMalformedRequests((_request, response) => response.end('heard')));
  server.maxHeadersCount = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Returns the first line of the answer. */
async function answerTo(version: string, ...headers: readonly string[]): Promise<string | undefined> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write(
    `GET / HTTP/${version}\r\n${headers.map((header) => `${header}\r\n`).join('')}Connection: close\r\n\r\n`,
  );
  return (await text(socket)).split('\r\n')[0];
}

const more = (count: number) => Array.from({ length: count }, () => 'X: y');

describe('well-formed requests', () => {
  test.each([
    ['HTTP/1.1 with its Host', '1.1', ['Host: a.example']],
    ['HTTP/1.0 without one', '1.0', []],
    ['a hundred headers', '1.1', ['Host: a.example', ...more(98)]],
    ['another header with a name as long as Host', '1.1', ['Host: a.example', 'From: b', 'From: c']],
  ])('a well-formed request is answered: %s', async (_name, version, headers) => {
    expect(await answerTo(version, ...headers)).toBe('HTTP/1.1 200 OK');
  });
});

describe('malformed requests that Node accepts', () => {
  test.each([
    ['HTTP/2.0', '2.0', ['Host: a.example'], 400],
    ['HTTP/0.9', '0.9', ['Host: a.example'], 400],
    ['two Hosts', '1.1', ['Host: a.example', 'hOST: b.example'], 400],
    ['the same Host twice', '1.1', ['Host: a.example', 'Host: a.example'], 400],
    ['a hundred and one headers', '1.1', ['Host: a.example', ...more(99)], 431],
    ['more headers than Node keeps by itself', '1.1', ['Host: a.example', ...more(3_000)], 431],
  ])('a malformed request is refused: %s', async (_name, version, headers, status) => {
    expect(await answerTo(version, ...headers)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });
});
