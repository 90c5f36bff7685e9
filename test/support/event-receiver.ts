import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RegisteredEvent } from '@auth-account/contracts';
import { Webhook } from 'standardwebhooks';

/** A delivery as a subscriber sees it. Its signature has been verified. */
export interface Received {
  readonly event: RegisteredEvent;
  readonly headers: IncomingHttpHeaders;
  /** `performance.now()` at the last byte. */
  readonly at: number;
}

/** A separate subscriber: an HTTP server that accepts signed webhooks. */
export interface EventReceiver {
  readonly url: string;
  readonly secret: string;
  readonly received: readonly Received[];
  /** Resolves with the first delivery about the user. */
  waitFor(userId: string, timeoutMs?: number): Promise<Received>;
  close(): Promise<void>;
}

const secret = `whsec_${Buffer.from('a secret of the tests, 32 bytes!').toString('base64')}`;

export async function startEventReceiver(): Promise<EventReceiver> {
  const received: Received[] = [];
  const waiting = new Set<() => void>();
  const webhook = new Webhook(secret);

  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString('utf8');
    try {
      webhook.verify(body, req.headers as Record<string, string>);
    } catch {
      res.writeHead(401).end();
      return;
    }
    received.push({ event: JSON.parse(body) as RegisteredEvent, headers: req.headers, at: performance.now() });
    res.writeHead(204).end();
    for (const look of waiting) look();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    secret,
    received,
    waitFor(userId, timeoutMs = 60_000) {
      return new Promise((resolve, reject) => {
        const end = (run: () => void) => {
          clearTimeout(timer);
          waiting.delete(look);
          run();
        };
        const look = () => {
          const found = received.find(({ event }) => event.subject === userId);
          if (found !== undefined) end(() => resolve(found));
        };
        const late = new Error(`no event about ${userId} within ${timeoutMs} ms`);
        const timer = setTimeout(() => end(() => reject(late)), timeoutMs);
        waiting.add(look);
        look();
      });
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
