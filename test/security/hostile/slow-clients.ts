import type { Socket } from 'node:net';
import { openSocket } from '../../support/gateway/raw-connection.ts';

/** Times for which slow clients stayed connected. */
export interface Lifetimes {
  /** Connections that the server has ended. */
  readonly count: number;
  /** Clients of which the server has not yet ended any connection. */
  readonly spared: number;
  /** The longest connection, in milliseconds, whether ended or open. */
  readonly maxMs: number;
}

export interface SlowClients {
  /** Returns the number of connections that are open now. */
  open(): number;
  /** Returns the times of all connections so far. */
  lifetimes(): Lifetimes;
  stop(): void;
}

export interface SlowClientOptions {
  readonly port: number;
  readonly count: number;
  /** Sent by a client as soon as it is connected. */
  readonly opening: string;
  /** Sent by a client in each interval, until the connection ends. */
  readonly drip: string;
  readonly intervalMs: number;
}

/**
 * Ticks in each interval. At each tick only a part of the clients sends, because simultaneous writes would be an extra
 * load.
 */
const parts = 10;

/** Starts slow clients. A connection that the server ends is replaced, so that the number of clients stays the same. */
export function startSlowClients({ port, count, opening, drip, intervalMs }: SlowClientOptions): SlowClients {
  const sockets = new Map<number, Socket>();
  const begun = new Map<Socket, number>();
  const endedPlaces = new Set<number>();
  let ended = 0;
  let maxMs = 0;
  let isStopped = false;
  let part = 0;

  function begin(place: number): void {
    const socket = openSocket(port);
    socket.on('connect', () => {
      begun.set(socket, performance.now());
      socket.write(opening);
    });
    socket.on('close', () => {
      if (isStopped) return;
      const began = begun.get(socket);
      if (began !== undefined) {
        begun.delete(socket);
        endedPlaces.add(place);
        ended += 1;
        maxMs = Math.max(maxMs, performance.now() - began);
      }
      setImmediate(begin, place);
    });
    socket.resume();
    sockets.set(place, socket);
  }

  for (let place = 0; place < count; place += 1) begin(place);
  const timer = setInterval(() => {
    part = (part + 1) % parts;
    for (let place = part; place < count; place += parts) {
      const socket = sockets.get(place);
      if (socket?.readyState === 'open') socket.write(drip);
    }
  }, intervalMs / parts);

  return {
    open: () => Array.from(sockets.values()).filter(({ readyState }) => readyState === 'open').length,
    lifetimes() {
      const now = performance.now();
      return {
        count: ended,
        spared: count - endedPlaces.size,
        maxMs: Array.from(begun.values()).reduce((max, began) => Math.max(max, now - began), maxMs),
      };
    },
    stop() {
      isStopped = true;
      clearInterval(timer);
      for (const socket of sockets.values()) socket.destroy();
    },
  };
}
