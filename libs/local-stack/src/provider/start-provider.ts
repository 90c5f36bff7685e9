import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createProvider, type Provider } from './create-provider.ts';

export type { Provider };

/** Starts a provider for tests, on any free port of 127.0.0.1. It does not keep its process running. */
export async function startProvider(): Promise<Provider & { close(): Promise<void> }> {
  const server = createServer((req, res) => provider.handle(req, res)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  const provider = createProvider(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return {
    ...provider,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
