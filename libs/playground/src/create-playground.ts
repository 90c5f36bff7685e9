import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { buildPage, type PageFile } from '@auth-account/page/build';
import { guidePage } from './http/guide-page.ts';
import { passToApi } from './http/pass-to-api.ts';
import { createLiveFeed } from './live/live-feed.ts';
import { readOtlpSpans } from './live/otlp-spans.ts';
import { createStepReader } from './live/steps.ts';

export interface PlaygroundOptions {
  /** URL of the api: `http://127.0.0.1:8080`. */
  readonly apiUrl: string;
  /** Receives the errors of the page's build. The page is built when it is first asked for. */
  readonly log: (line: string) => void;
  /** Kills the push gateway, like a fault would. */
  readonly killGateway: () => void;
}

/** Serves the page that shows two phones using the service, and the steps inside the service. */
export interface Playground {
  /** Answers a request if it belongs to the playground. Returns false if it does not. */
  handle(req: IncomingMessage, res: ServerResponse): boolean;
  /** Informs the open pages that a mail has arrived. */
  notifyMail(): void;
}

const pageDir = join(import.meta.dirname, '../page');
const guidesPath = '/guides/';

/** Limit for a delivery of spans, in characters. */
const maxDelivery = 16_777_216;

/** The page loads only from its own server, and connects only to it and to the local gateway. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' ws://127.0.0.1:*; " +
  "frame-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

type Answer = (req: IncomingMessage, res: ServerResponse, path: string) => void;

export function createPlayground({ apiUrl, log, killGateway }: PlaygroundOptions): Playground {
  const feed = createLiveFeed();
  const readSteps = createStepReader();
  const findFile = createFileFinder();

  async function show(path: string, res: ServerResponse): Promise<void> {
    const file = await findFile(path);
    if (file === undefined) {
      res.writeHead(404).end();
      return;
    }
    res.writeHead(200, {
      'Content-Type': file.type,
      'Cache-Control': 'no-store',
      'Content-Security-Policy': contentSecurityPolicy,
    });
    res.end(file.body);
  }

  async function takeSpans(req: IncomingMessage, res: ServerResponse): Promise<void> {
    // A page of another site could send requests here. Services send no origin, so a request with an origin is refused.
    if (req.headers.origin !== undefined) {
      res.writeHead(403).end();
      return;
    }
    let body = '';
    for await (const chunk of req.setEncoding('utf8')) {
      body += chunk;
      if (body.length > maxDelivery) {
        res.writeHead(413).end();
        return;
      }
    }
    for (const read of readSteps(readOtlpSpans(body))) feed.notify({ type: 'steps', ...read });
    res.setHeader('Content-Type', 'application/json').end('{}');
  }

  function answer(work: Promise<void>, res: ServerResponse): void {
    work.catch((error: Error) => {
      log(`the playground: ${error.message}`);
      if (res.headersSent) res.destroy();
      else res.writeHead(500, { 'Content-Type': 'text/plain' }).end(error.message);
    });
  }

  /** Routes by method and path. Services deliver their spans at the path of OTLP/HTTP. */
  const routes: readonly (readonly [RegExp, Answer])[] = [
    [/^\w+ \/api\//, (req, res) => passToApi(apiUrl, req, res)],
    [/^\w+ \/live$/, (_, res) => feed.follow(res)],
    // The provider sends the browser back to this page, from which the phone reads the fragment.
    [/^\w+ \/callback$/, (_, res) => res.writeHead(200, { 'Content-Type': 'text/html' }).end()],
    [/^\w+ \/docs$/, (_, res) => res.writeHead(302, { Location: `${apiUrl}/docs` }).end()],
    [/^POST \/v1\/traces$/, (req, res) => answer(takeSpans(req, res), res)],
    [/^DELETE \/gateway$/, (req, res) => endGateway(req, res, killGateway)],
    [/^\w+ \/$/, (req, res, path) => isMoved(req, res) || answer(show(path, res), res)],
    [/^\w+ \/(guides\/.*|playground\.(js|css))$/, (_, res, path) => answer(show(path, res), res)],
  ];

  return {
    handle(req, res) {
      const [path = ''] = (req.url ?? '').split('?');
      const [, take] = routes.find(([route]) => route.test(`${req.method} ${path}`)) ?? [];
      take?.(req, res, path);
      return take !== undefined;
    },
    notifyMail: () => feed.notify({ type: 'mail' }),
  };
}

/** Kills the gateway if the page asks for it. */
function endGateway({ headers }: IncomingMessage, res: ServerResponse, killGateway: () => void): void {
  // Another site's name may point to this machine too, so only these names count as this machine's.
  const isHere = /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(headers.host ?? '');
  const isOwnPage = isHere && headers.origin === `http://${headers.host}`;
  if (isOwnPage) killGateway();
  res.writeHead(isOwnPage ? 204 : 403).end();
}

/** Sends the browser to the machine's name if it has asked for an IP address, which can have no passkeys. */
function isMoved({ headers: { host = '' } }: IncomingMessage, res: ServerResponse): boolean {
  const isByNumbers = host.startsWith('127.0.0.1');
  if (isByNumbers) res.writeHead(302, { Location: `http://${host.replace('127.0.0.1', 'localhost')}/` }).end();
  return isByNumbers;
}

/**
 * Creates a function that finds a file of the page or a guide by its path, and returns undefined if there is none. The
 * page is built once.
 */
function createFileFinder(): (path: string) => Promise<PageFile | undefined> {
  let files: Promise<ReadonlyMap<string, PageFile>> | undefined;
  return async (path) => {
    if (path.startsWith(guidesPath)) return guidePage(path.slice(guidesPath.length));
    files ??= buildPage({ pageDir, name: 'playground' });
    const built = await files.catch((error) => {
      files = undefined;
      throw error;
    });
    return built.get(path);
  };
}
