import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy in front of one server that can drop the reply to a command that the server has carried out. */
export interface ReplyDroppingProxy {
  readonly port: number;
  /** Passes on the next request that contains the text, and breaks the connection instead of sending the reply. */
  dropReplyTo(text: string): void;
  /** Returns the number of replies that have been dropped. */
  dropped(): number;
  close(): Promise<void>;
}

export async function startReplyDroppingProxy(targetPort: number): Promise<ReplyDroppingProxy> {
  let armed: string | undefined;
  let dropped = 0;
  const sockets = new Set<Socket>();

  const server = createServer((client) => {
    const upstream = connect(targetPort, '127.0.0.1');
    let isDropping = false;
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', end);
      socket.on('close', () => {
        sockets.delete(socket);
        end();
      });
    }
    client.on('data', (chunk) => {
      if (armed !== undefined && chunk.includes(armed)) {
        armed = undefined;
        isDropping = true;
      }
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      if (!isDropping) {
        client.write(chunk);
        return;
      }
      dropped += 1;
      end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    port: (server.address() as AddressInfo).port,
    dropReplyTo(text) {
      armed = text;
    },
    dropped: () => dropped,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
