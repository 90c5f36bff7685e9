import { setTimeout as sleep } from 'node:timers/promises';
import { type AuthClient, createAuthClient } from '@auth-account/client';
import { memoryStorage } from '@auth-account/client/testing';
import { type PushClient, platformSocket } from '../../../support/gateway/push-client.ts';
import type { FleetReport, StreamsOrder } from './protocol.ts';
import { password } from './sessions.ts';

/** Apps with a client that reopens its stream whenever the stream ends. */
export interface Fleet {
  look(): Promise<FleetReport>;
  stop(): Promise<FleetReport>;
}

interface Figures {
  readonly closed: Map<string, number>;
  readonly refused: Map<string, number>;
  reopened: number;
  maxAwayMs: number;
}

const newFigures = (): Figures => ({ closed: new Map(), refused: new Map(), reopened: 0, maxAwayMs: 0 });
const count = (map: Map<string, number>, key: string) => map.set(key, (map.get(key) ?? 0) + 1);

/** Milliseconds for which `look` waits for streams that are reconnecting. */
const patienceMs = 45_000;
/** Number of apps that register at once, which is small because each costs two hashes. */
const registerAtOnce = 4;

/**
 * Opens streams, each of another account, with the client that apps use. The client hides from its app each end of a
 * stream and each failed handshake, so they are counted at its sockets.
 */
export async function startFleet({ api, push, streams }: StreamsOrder): Promise<Fleet> {
  const open = new Set<number>();
  const apps: AuthClient[] = [];
  let isStopping = false;
  let figures = newFigures();

  function startApp(number: number): AuthClient {
    let closedAt: number | undefined;
    const gateway = (url: string) => push.replace(/^http/, 'ws') + new URL(url).pathname;
    function onOpen(): void {
      open.add(number);
      if (closedAt === undefined) return;
      figures.reopened += 1;
      figures.maxAwayMs = Math.max(figures.maxAwayMs, performance.now() - closedAt);
    }
    function onClose(end: string): void {
      open.delete(number);
      closedAt = performance.now();
      if (!isStopping) count(figures.closed, end);
    }
    const onRefused = (why: string) => count(figures.refused, why);
    const WebSocket = platformSocket(gateway, (socket) => watchSocket(socket, { onOpen, onClose, onRefused }));
    return createAuthClient({ baseUrl: api, storage: memoryStorage(), WebSocket });
  }

  async function enter(app: AuthClient): Promise<void> {
    const email = `${crypto.randomUUID()}@cluster.invalid`;
    await app.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
    await app.logIn({ email, password });
  }

  async function look(): Promise<FleetReport> {
    const deadline = performance.now() + patienceMs;
    while (open.size < streams && performance.now() < deadline) await sleep(20);
    const { closed, refused, reopened, maxAwayMs } = figures;
    figures = newFigures();
    return {
      open: open.size,
      closed: Object.fromEntries(closed),
      refused: Object.fromEntries(refused),
      reopened,
      maxAwayMs: Math.round(maxAwayMs),
    };
  }

  while (apps.length < streams) {
    const next = Array.from({ length: Math.min(registerAtOnce, streams - apps.length) }, (_, index) =>
      startApp(apps.length + index),
    );
    apps.push(...next);
    await Promise.all(next.map(enter));
  }
  const begun = await look();
  if (begun.open < streams)
    throw new Error(`only ${begun.open} of ${streams} streams opened: ${JSON.stringify(begun)}`);
  return {
    look,
    async stop() {
      const report = await look();
      isStopping = true;
      for (const app of apps) app.close();
      return report;
    },
  };
}

interface SocketWatch {
  /** Called when the socket's `hello` has come. */
  onOpen(): void;
  /** Called when the socket has ended after its `hello`, with code and reason. */
  onClose(end: string): void;
  /** Called when the socket has ended before its `hello`. */
  onRefused(why: string): void;
}

function watchSocket(socket: PushClient['socket'], { onOpen, onClose, onRefused }: SocketWatch): void {
  let isOpen = false;
  let why: string | undefined;
  socket.once('message', () => {
    isOpen = true;
    onOpen();
  });
  socket.on('error', ({ message }) => {
    why = message;
  });
  socket.on('close', (code, reason) => {
    if (isOpen) onClose(`${code} ${reason}`.trim());
    else onRefused(why ?? `closed with ${code} before hello`);
  });
}
