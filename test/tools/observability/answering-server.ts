import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A subscriber that answers every delivery with the same status. */
export interface AnsweringServer {
  readonly url: string;
  close(): Promise<void>;
}

export async function startAnsweringServer(status: number): Promise<AnsweringServer> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(status).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
