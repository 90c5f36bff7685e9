import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import type { Log } from '../log.ts';

export interface LocalSubscriber {
  /** Value of `EVENT_SUBSCRIBERS` for this subscriber. */
  readonly configuration: string;
  stop(): Promise<void>;
}

const maximumBytes = 64 * 1024;

/**
 * Starts the stack's own subscriber, which shows that events arrive: it verifies each webhook's signature (Standard
 * Webhooks), prints a line, and passes the event on to the readers of `GET /events` (server-sent events).
 */
export async function startEventSubscriber(port: number, print: Log): Promise<LocalSubscriber> {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const webhook = new Webhook(secret);
  const readers = new Set<ServerResponse>();

  function take(body: string, req: IncomingMessage): number {
    try {
      webhook.verify(body, req.headers as Record<string, string>);
    } catch (error) {
      print(`event refused: ${(error as Error).message}`);
      return 401;
    }
    const { id, type, subject } = JSON.parse(body) as Record<string, string>;
    print(`event ${type} about user ${subject}, id ${id}, signature good`);
    for (const reader of readers) reader.write(`id: ${id}\nevent: ${type}\ndata: ${body}\n\n`);
    return 204;
  }

  function follow(res: ServerResponse): void {
    res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    res.write(': events that arrive from now on\n\n');
    readers.add(res);
    res.once('close', () => readers.delete(res));
  }

  const server = createServer((req, res) => {
    if (req.url !== '/events') res.writeHead(404).end();
    else if (req.method === 'GET') follow(res);
    else
      readBody(req).then(
        (body) => res.writeHead(body === undefined ? 413 : take(body, req)).end(),
        () => res.destroy(),
      );
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');

  const subscriber = { name: 'local', kind: 'webhook', url: `http://127.0.0.1:${port}/events`, secret };
  return {
    configuration: JSON.stringify([subscriber]),
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function readBody(req: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maximumBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
