import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { waitUntil } from '@auth-account/local-stack';
import { expect, test } from '@jest/globals';
import { openSocket } from '../gateway/raw-connection.ts';
import { listen } from '../listen.ts';
import { startHoldingProxy } from './holding-proxy.ts';

test('a silent cut holds back what a new connection sends, until the cut is repaired', async () => {
  let heard = '';
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      heard += chunk.toString();
    });
  });
  const { port, close } = await listen(server);
  const proxy = await startHoldingProxy(port);
  const sockets: Socket[] = [];
  const say = async (text: string) => {
    const socket = openSocket(proxy.port);
    sockets.push(socket);
    await once(socket, 'connect');
    socket.write(text);
    return socket;
  };
  const isHeard = (text: string) =>
    waitUntil(async () => heard.includes(text), { what: text, timeoutMs: 60_000, intervalMs: 5 });

  try {
    proxy.cut('silence', ['cut off']);
    const held = await say('who is cut off;');
    await say('who is not;');
    await isHeard('who is not;');
    expect(heard).toBe('who is not;');
    held.write('goes on;');
    proxy.fix();
    await isHeard('goes on;');
    expect(heard).toBe('who is not;who is cut off;goes on;');
  } finally {
    for (const socket of sockets) socket.destroy();
    await proxy.close();
    await close();
  }
});
