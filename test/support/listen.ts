import { once } from 'node:events';
import { Server as HttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';

/** Lets the server listen on a free port of 127.0.0.1. `close` ends it with its HTTP connections. */
export async function listen(server: Server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    /** `http://…` */
    url: `http://127.0.0.1:${port}`,
    async close() {
      if (!server.listening) return;
      server.close();
      if (server instanceof HttpServer) server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
