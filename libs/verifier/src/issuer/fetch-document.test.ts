import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { fetchDocument } from './fetch-document.ts';

test('a document whose bytes trickle is given up in time, also after garbage collections', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const answers: ServerResponse[] = [];
  const server = createServer((_, res) => answers.push(res)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const trickle = setInterval(() => {
    for (const res of answers) res.write(' ');
    collectGarbage();
  }, 50);
  try {
    const asked = Array.from({ length: 8 }, () => fetchDocument(url, { fetch, timeoutMs: 1_000 }));
    const ends = await Promise.allSettled(asked);
    expect(ends.map(({ status }) => status)).toEqual(ends.map(() => 'rejected'));
    await Promise.all(answers.map((res) => res.closed || once(res, 'close')));
  } finally {
    clearInterval(trickle);
    server.closeAllConnections();
    server.close();
  }
});
