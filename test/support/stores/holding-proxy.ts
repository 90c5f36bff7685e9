import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP proxy that can hold back the answers to a command, drop an answer, cut all connections, or go silent. */
export interface HoldingProxy {
  readonly url: string;
  readonly port: number;
  /** Holds back, until `release`, all answers on each connection on which `command` is sent from now on. */
  hold(command: string): void;
  /** Returns the number of connections that are held. */
  held(): number;
  release(): void;
  /** Passes on the next request that contains the text, and breaks the connection instead of sending the reply. */
  dropReplyTo(text: string): void;
  /** Returns the number of replies that have been dropped. */
  dropped(): number;
  /** Ends every connection, and from now on each new connection at once. */
  cut(): void;
  fix(): void;
  /** Lets nothing pass on the present connections, as if their host had vanished. New connections work. */
  freeze(): void;
  close(): Promise<void>;
}

interface Lane {
  readonly client: Socket;
  readonly server: Socket;
  readonly kept: Buffer[];
  isHeld?: boolean;
  isDropping?: boolean;
  isFrozen?: boolean;
}

/** Listens on a free port of loopback, and forwards connections to the port `target` of loopback. */
export async function startHoldingProxy(target: number): Promise<HoldingProxy> {
  const lanes = new Set<Lane>();
  let command: string | undefined;
  let unanswered: string | undefined;
  let dropped = 0;
  let isCut = false;
  const server: Server = createServer((client) => {
    if (isCut) return void client.destroy();
    const lane: Lane = { client, server: connect(target, '127.0.0.1'), kept: [] };
    lanes.add(lane);
    client.on('data', (chunk) => {
      if (lane.isFrozen) return;
      if (command !== undefined && chunk.toString('latin1').toLowerCase().includes(command)) lane.isHeld = true;
      if (unanswered !== undefined && chunk.includes(unanswered)) {
        unanswered = undefined;
        lane.isDropping = true;
      }
      lane.server.write(chunk);
    });
    lane.server.on('data', (chunk) => {
      if (!lane.isDropping) return passBack(lane, chunk);
      dropped += 1;
      end(lane);
    });
    for (const socket of [client, lane.server]) {
      socket.setNoDelay();
      socket.on('error', () => undefined); // its close event follows
      // If a host has vanished, its peer does not hear of the end.
      socket.on('close', () => lane.isFrozen || end(lane));
    }
  });

  function end(lane: Lane): void {
    lanes.delete(lane);
    lane.client.destroy();
    lane.server.destroy();
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    hold(name) {
      command = name.toLowerCase();
    },
    held: () => [...lanes].filter(({ isHeld }) => isHeld).length,
    release() {
      command = undefined;
      for (const lane of lanes) {
        lane.isHeld = false;
        for (const chunk of lane.kept.splice(0)) lane.client.write(chunk);
      }
    },
    dropReplyTo(text) {
      unanswered = text;
    },
    dropped: () => dropped,
    cut() {
      isCut = true;
      for (const lane of lanes) end(lane);
    },
    fix() {
      isCut = false;
    },
    freeze() {
      for (const lane of lanes) lane.isFrozen = true;
    },
    async close() {
      for (const lane of lanes) end(lane);
      server.close();
      await once(server, 'close');
    },
  };
}

function passBack({ client, isFrozen, isHeld, kept }: Lane, chunk: Buffer): void {
  if (isFrozen) return;
  if (isHeld) kept.push(chunk);
  else client.write(chunk);
}
