import { setTimeout as sleep } from 'node:timers/promises';
import { type AuthClient, createAuthClient } from '@auth-account/client';
import { memoryStorage } from '@auth-account/client/testing';
import { type PushClient, platformSocket } from '../../../support/gateway/push-client.ts';
import { inBatches, newAccount, type StreamsOrder } from './sessions.ts';

/** Apps with a client that reopens its stream whenever the stream ends. */
export type Fleet = Awaited<ReturnType<typeof startFleet>>;
export type FleetReport = Awaited<ReturnType<Fleet['look']>>;

type Counts = Record<string, number>;

const newFigures = () => ({
  /** Numbers of streams that ended, by code and reason. */
  closed: {} as Counts,
  /** Numbers of handshakes that failed, by answer. */
  refused: {} as Counts,
  reopened: 0,
});
const count = (counts: Counts, key: string) => {
  counts[key] = (counts[key] ?? 0) + 1;
};

/** Milliseconds for which `look` waits for streams that are reconnecting. */
const patienceMs = 45_000;

/**
 * Opens streams, each of another account, with the client that apps use. The client hides from its app each end of a
 * stream and each failed handshake, so they are counted at its sockets.
 */
export async function startFleet({ api, push, streams }: StreamsOrder) {
  const open = new Set<number>();
  const apps: AuthClient[] = [];
  let isStopping = false;
  let figures = newFigures();

  function startApp(number: number): AuthClient {
    let wasClosed = false;
    const gateway = (url: string) => push.replace(/^http/, 'ws') + new URL(url).pathname;
    function watch(socket: PushClient['socket']): void {
      let isOpen = false;
      let why: string | undefined;
      socket.once('message', () => {
        isOpen = true; // the message is `hello`
        open.add(number);
        if (wasClosed) figures.reopened += 1;
      });
      socket.on('error', ({ message }) => {
        why = message;
      });
      socket.on('close', (code, reason) => {
        if (!isOpen) return count(figures.refused, why ?? `closed with ${code} before hello`);
        open.delete(number);
        wasClosed = true;
        if (!isStopping) count(figures.closed, `${code} ${reason}`.trim());
      });
    }
    const WebSocket = platformSocket(gateway, watch);
    return createAuthClient({ baseUrl: api, storage: memoryStorage(), WebSocket });
  }

  async function enter(): Promise<void> {
    const app = startApp(apps.length);
    apps.push(app);
    const account = newAccount();
    await app.register(account);
    await app.logIn({ email: account.email, password: account.password });
  }

  /** Returns the results since the last look, when every stream is open again or 45 s have passed. */
  async function look() {
    const deadline = performance.now() + patienceMs;
    while (open.size < streams && performance.now() < deadline) await sleep(20);
    const report = { open: open.size, ...figures };
    figures = newFigures();
    return report;
  }

  await inBatches(streams, enter);
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
