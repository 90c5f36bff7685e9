import { setTimeout as sleep } from 'node:timers/promises';
import { type OpenStream, openStream } from './open-stream.ts';
import type { FleetOrder, FleetReport } from './protocol.ts';
import { newSessions, type Session } from './sessions.ts';

/** Streams that are reopened whenever they end. */
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

/**
 * Opens streams, each of another account, and behaves as docs/push.md tells apps to: after a `reconnect` frame it
 * reconnects after the given pause, otherwise within a random second.
 */
export async function startFleet({ api, push, streams }: FleetOrder): Promise<Fleet> {
  const sessions = await newSessions(api, streams);
  const open = new Map<Session, OpenStream>();
  const stopping = new AbortController();
  let figures = newFigures();

  async function keepOpen(session: Session, first: OpenStream): Promise<void> {
    let stream = first;
    while (!stopping.signal.aborted) {
      open.set(session, stream);
      const { code, reason, afterMs, at } = await stream.ended;
      open.delete(session);
      if (stopping.signal.aborted) return;
      count(figures.closed, `${code} ${reason}`.trim());
      const wait = afterMs === undefined ? Math.random() * 1_000 : at + afterMs - performance.now();
      await sleep(Math.max(0, wait));
      const next = await reopen(session);
      if (next === undefined) return;
      stream = next;
      figures.reopened += 1;
      figures.longestAwayMs = Math.max(figures.longestAwayMs, performance.now() - at);
    }
  }

  async function reopen(session: Session): Promise<OpenStream | undefined> {
    for (;;) {
      if (stopping.signal.aborted) return;
      try {
        return await openStream(push, session);
      } catch (error) {
        count(figures.refused, (error as Error).message);
        await sleep(Math.random() * 1_000);
      }
    }
  }

  async function look(): Promise<FleetReport> {
    const deadline = performance.now() + patienceMs;
    while (open.size < sessions.length && performance.now() < deadline) await sleep(20);
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

  const first = await Promise.all(sessions.map(async (session) => [session, await openStream(push, session)] as const));
  const kept = Promise.all(first.map(([session, stream]) => keepOpen(session, stream)));
  return {
    look,
    async stop() {
      const report = await look();
      stopping.abort();
      for (const stream of open.values()) stream.terminate();
      await kept;
      return report;
    },
  };
}
