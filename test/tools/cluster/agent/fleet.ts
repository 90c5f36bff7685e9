import { setTimeout as sleep } from 'node:timers/promises';
import { type AuthClient, createAuthClient } from '@auth-account/client';
import { memoryStorage } from '@auth-account/client/testing';
import type { FleetOrder, FleetReport } from './protocol.ts';
import { password } from './sessions.ts';
import { watchSockets } from './watched-socket.ts';

/** Apps whose client reopens its stream whenever it ends. */
export interface Fleet {
  look(): Promise<FleetReport>;
  stop(): Promise<FleetReport>;
}

interface Figures {
  readonly closed: Map<string, number>;
  readonly refused: Map<string, number>;
  reopened: number;
  longestAwayMs: number;
}

const newFigures = (): Figures => ({ closed: new Map(), refused: new Map(), reopened: 0, longestAwayMs: 0 });
const count = (map: Map<string, number>, key: string) => map.set(key, (map.get(key) ?? 0) + 1);

/** Milliseconds that a look waits for streams that are reconnecting. */
const patienceMs = 45_000;
/** Apps that register at once: each costs two hashes. */
const registerAtOnce = 4;

/**
 * Opens streams, each of another account, by the client that apps have. Below the client, every end of a stream and
 * every handshake that failed is counted: it hides them from its app.
 */
export async function startFleet({ api, push, streams }: FleetOrder): Promise<Fleet> {
  const open = new Set<number>();
  const apps: AuthClient[] = [];
  let isStopping = false;
  let figures = newFigures();

  function startApp(number: number): AuthClient {
    let closedAt: number | undefined;
    const WebSocket = watchSockets(push, {
      onOpen() {
        open.add(number);
        if (closedAt === undefined) return;
        figures.reopened += 1;
        figures.longestAwayMs = Math.max(figures.longestAwayMs, performance.now() - closedAt);
      },
      onClose(end) {
        open.delete(number);
        closedAt = performance.now();
        if (!isStopping) count(figures.closed, end);
      },
      onRefused: (why) => count(figures.refused, why),
    });
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
    const { closed, refused, reopened, longestAwayMs } = figures;
    figures = newFigures();
    return {
      open: open.size,
      closed: Object.fromEntries(closed),
      refused: Object.fromEntries(refused),
      reopened,
      longestAwayMs: Math.round(longestAwayMs),
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
