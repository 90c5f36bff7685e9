import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** The kind of break, which is visible to both ends at once, or silent until it is repaired. */
export type Cut = 'reset' | 'silence';

/** A TCP proxy on a free port of loopback that can break all its connections, or only those of some clients. */
export interface CuttableProxy {
  readonly port: number;
  /** Breaks existing and new connections, all of them or only those whose first bytes contain one of the texts. */
  cut(how: Cut, clients?: readonly string[]): void;
  /** Lets new connections work again, and passes on data that were held back. */
  fix(): void;
  close(): Promise<void>;
}

interface Lane {
  readonly client: Socket;
  readonly server: Socket;
  /** The client's first bytes, by which it is recognised. */
  introduction: string;
}

/** Starts a proxy in front of the server on `target`, which need not listen yet. */
export async function startCuttableProxy(target: number): Promise<CuttableProxy> {
  const lanes = new Set<Lane>();
  let cut: { readonly how: Cut; readonly clients: readonly string[] } | undefined;

  function isCut({ introduction }: Lane): boolean {
    if (cut === undefined) return false;
    return cut.clients.length === 0 || cut.clients.some((text) => introduction.includes(text));
  }

  function end(lane: Lane): void {
    lanes.delete(lane);
    lane.client.destroy();
    lane.server.destroy();
  }

  function breakUp(lane: Lane): void {
    if (cut?.how === 'reset') end(lane);
    else for (const socket of [lane.client, lane.server]) socket.pause();
  }

  const server = createServer((client) => {
    const lane: Lane = { client, server: connect(target, '127.0.0.1'), introduction: '' };
    lanes.add(lane);
    client.on('data', (chunk: Buffer) => {
      if (lane.introduction === '') {
        lane.introduction = chunk.toString('latin1');
        if (isCut(lane)) {
          breakUp(lane);
          if (!client.destroyed) client.unshift(chunk); // to be read again after the repair
          return;
        }
      }
      if (!lane.server.destroyed) lane.server.write(chunk);
    });
    lane.server.on('data', (chunk: Buffer) => {
      if (!client.destroyed) client.write(chunk);
    });
    for (const socket of [client, lane.server]) {
      socket.setNoDelay();
      socket.on('error', () => undefined); // its close event follows
      socket.on('close', () => end(lane));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    cut(how, clients = []) {
      cut = { how, clients };
      for (const lane of lanes) if (isCut(lane)) breakUp(lane);
    },
    fix() {
      cut = undefined;
      for (const { client, server: behind } of lanes) {
        client.resume();
        behind.resume();
      }
    },
    async close() {
      for (const lane of lanes) end(lane);
      server.close();
      await once(server, 'close');
    },
  };
}
