import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { ErrorAnswer, ErrorCode } from '@auth-account/console/contract';
import { reasonHeader, tokenHeader } from '@auth-account/console/contract';
import { buildPage } from '@auth-account/page/build';
import { answers, requestId } from './page-answers.ts';

/** A request of the page to its api. */
export interface Call {
  readonly what: string;
  readonly reason: string | undefined;
  readonly token: string | undefined;
  readonly body: unknown;
}

type Answer = (call: Call) => { readonly status: number; readonly body: unknown };

const pageDir = join(import.meta.dirname, '../../../services/console/page');
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export const refusal = (status: number, code: ErrorCode, message = 'No.') => ({
  status,
  body: { error: { code, message, request_id: requestId } } satisfies ErrorAnswer,
});

/** Matches requests that need no reason. All others are refused without one, or with an email address in it. */
const plain = /\/api\/(?:me|system|dead-letters|consents)\b(?!\/)|\/sign-out/;

const usual: Answer = (call) => {
  if (!plain.test(call.what)) {
    if (call.reason === undefined) return refusal(400, 'reason_missing', 'A reason is needed.');
    if (call.reason.includes('@')) return refusal(400, 'reason_missing', 'The reason: no email address.');
  }
  const body = answers[call.what];
  return body === undefined ? refusal(404, 'unknown') : { status: 200, body };
};

/** Serves the console's page, with answers in the place of its api. */
export async function servePage() {
  const files = await buildPage({ pageDir, name: 'console' });
  let own = new Map<string, Answer>();
  let calls: Call[] = [];

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { pathname } = new URL(req.url ?? '', 'http://page');
    if (!/^\/(?:api\/|sign-out)/.test(pathname)) {
      const file = files.get(pathname) ?? files.get('/');
      res.writeHead(200, { 'content-type': file?.type ?? '', 'content-security-policy': policy }).end(file?.body);
      return;
    }
    const header = (name: string) => req.headers[name]?.toString();
    const body = await text(req);
    const given = header(reasonHeader);
    const call: Call = {
      what: `${req.method} ${req.url}`,
      reason: given === undefined ? undefined : decodeURIComponent(given),
      token: header(tokenHeader),
      body: body === '' ? undefined : JSON.parse(body),
    };
    calls.push(call);
    const found = (own.get(call.what) ?? usual)(call);
    res.writeHead(found.status, { 'content-type': 'application/json' }).end(JSON.stringify(found.body));
  }

  const server = createServer((req, res) => {
    answer(req, res).catch((error: Error) => res.destroy(error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    files,
    /** Requests since the last `reset`. */
    calls: () => calls,
    /** Lets a request be answered differently until the next `reset`. */
    use: (what: string, to: Answer | object) => own.set(what, typeof to === 'function' ? (to as Answer) : ok(to)),
    reset() {
      own = new Map();
      calls = [];
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const ok = (body: object): Answer => {
  return () => ({ status: 200, body });
};

/** The page's server in a test. */
export type PageServer = Awaited<ReturnType<typeof servePage>>;
