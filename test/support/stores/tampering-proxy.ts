import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Answer, send } from '../http-client.ts';
import { listen } from '../listen.ts';

/** A request as it came to the proxy. */
interface PassingRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

type Forward = (request: PassingRequest) => Promise<Answer>;
export interface Passed extends Pick<Answer, 'status' | 'text'> {
  readonly location?: string;
  /** Content type; by default JSON. */
  readonly type?: string;
}

/** An attacker between a client and the api, who can read and change all traffic. */
export type TamperingProxy = Awaited<ReturnType<typeof startTamperingProxy>>;
type Tamper = (request: PassingRequest, forward: Forward) => Promise<Passed>;

/** `target`: the api's base URL, or a function that returns it if the api starts later. */
export async function startTamperingProxy(target: string | (() => string)) {
  const forward: Forward = (request) => send(typeof target === 'string' ? target : target(), request);
  const pass = (request: PassingRequest) => forward(request);
  let answer: Tamper = pass;
  const server = createServer(async (req, res) => {
    const passed: Passed = await answer(await readRequest(req), forward).catch(() => ({ status: 502, text: '{}' }));
    const { status, text, location, type = 'application/json' } = passed;
    res.writeHead(status, { 'Content-Type': type, ...(location && { Location: location }) }).end(text);
  });
  const { url: base, close } = await listen(server);
  return {
    base,
    close,
    /** Lets `next` answer each request from now on. Its `forward` asks the api. */
    tamper(next: Tamper) {
      answer = next;
    },
    /** Passes everything on as it is. */
    behave() {
      answer = pass;
    },
  };
}

async function readRequest(req: IncomingMessage): Promise<PassingRequest> {
  const { method = '', url: path = '' } = req;
  const { host: _host, connection: _connection, 'content-length': _length, ...headers } = req.headers;
  const body = await text(req);
  return {
    method,
    path,
    headers: headers as PassingRequest['headers'],
    body: body === '' ? undefined : JSON.parse(body),
  };
}
