import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import type { Log } from '../log.ts';
import type { SunkMail } from './mail-sink.ts';

export interface LocalSubscriber {
  /** Value of `EVENT_SUBSCRIBERS`, with the webhook and the mail sink. */
  readonly configuration: string;
  /** Value of `IDENTITY_PROVIDERS`, with the stack's own provider. */
  readonly identityProviders: string;
  stop(): Promise<void>;
}

const maximumBytes = 64 * 1024;

/**
 * Matches a path. It matches neither another server's URL nor `//host`, which a URL parser would take for such a URL.
 */
const ownPath = /^\/(?![/\\])/;

/**
 * Matches this machine's own names. A site that points its own name at this machine (DNS rebinding) must not read the
 * mails, so it gets 421 (RFC 9110, 15.5.20).
 */
const ownHost = /^(127\.0\.0\.1|localhost)(:\d+)?$/;

export interface SubscriberOptions {
  readonly port: number;
  /** URL of the api, to which the playground passes its requests. */
  readonly apiUrl: string;
  /** Kills the push gateway, for the playground's story about this. */
  readonly killGateway: () => void;
  /** Printers for the lines of each part. */
  readonly logs: { readonly events: Log; readonly mails: Log; readonly playground: Log };
}

/**
 * Starts the stack's own subscribers, which show that events and mails arrive. The webhook verifies each signature
 * (Standard Webhooks), prints a line, and passes the event on to the readers of `GET /events` (server-sent events). The
 * mail sink prints a line for each mail; `GET /mail` shows them all. `/provider/` is a provider of OpenID Connect. The
 * playground has the other paths.
 */
export async function startEventSubscriber({
  port,
  apiUrl,
  killGateway,
  logs,
}: SubscriberOptions): Promise<LocalSubscriber> {
  const { events: print } = logs;
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

  // Loaded only when they are needed, because every test loads this library.
  const { mailPage, startMailSink } = await import('./mail-sink.ts');
  const { createPlayground } = await import('@auth-account/playground');
  const { createProvider } = await import('../provider/create-provider.ts');
  const playground = createPlayground({ apiUrl, killGateway, log: logs.playground });
  const provider = createProvider(`http://127.0.0.1:${port}/provider`);
  const mails = await startMailSink((line) => {
    logs.mails(line);
    playground.notifyMail();
  });
  const server = createServer((req, res) => {
    const refusal = refusalOf(req);
    if (refusal !== undefined) res.writeHead(refusal).end();
    else if (req.url === '/mail' && req.method === 'GET') showMails(req, res, mails.mails(), mailPage);
    else if (req.url?.startsWith('/provider/')) provider.handle(req, res);
    else if (playground.handle(req, res)) return;
    else if (req.url !== '/events') res.writeHead(404).end();
    else if (req.method === 'GET') follow(res);
    else
      readBody(req).then(
        (body) => res.writeHead(body === undefined ? 413 : take(body, req)).end(),
        () => res.destroy(),
      );
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');

  const webhookEntry = { name: 'local', kind: 'webhook', url: `http://127.0.0.1:${port}/events`, secret };
  const from = 'Local stack <no-reply@example.com>';
  const mailEntry = { name: 'mail', kind: 'smtp', url: `smtp://127.0.0.1:${mails.port}`, starttls: false, from };
  return {
    configuration: JSON.stringify([webhookEntry, mailEntry]),
    identityProviders: JSON.stringify([entryOf(provider)]),
    async stop() {
      await mails.stop();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/**
 * Returns the provider's entry in `IDENTITY_PROVIDERS`. It gives out the email addresses of the playground's phones.
 */
function entryOf({ issuer, jwksUri }: { readonly issuer: string; readonly jwksUri: string }): object {
  const app = { client_ids: ['playground'], email_domains: ['example.com'] };
  return { name: 'local', issuers: [issuer], jwks_uri: jwksUri, ...app };
}

/** Returns the status for a request that was not meant for this server. */
function refusalOf({ headers, url = '' }: IncomingMessage): number | undefined {
  if (!ownHost.test(headers.host ?? '')) return 421;
  return ownPath.test(url) ? undefined : 400;
}

function showMails(
  req: IncomingMessage,
  res: ServerResponse,
  mails: readonly SunkMail[],
  toPage: (mails: readonly SunkMail[]) => string,
): void {
  const isJson = req.headers.accept?.includes('application/json') ?? false;
  const type = isJson ? 'application/json' : 'text/html; charset=utf-8';
  res.writeHead(200, { 'Content-Type': type, 'Cache-Control': 'no-store' });
  res.end(isJson ? JSON.stringify(mails) : toPage(mails));
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
