import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Answer, send } from '../http-client.ts';

/** A request as it came to the proxy. */
export interface PassingRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

type Forward = (request: PassingRequest) => Promise<Answer>;
export interface Passed extends Pick<Answer, 'status' | 'text'> {
  readonly location?: string;
}

/** An attacker between a resource server and the api, who can read and change all traffic. */
export type TamperingProxy = Awaited<ReturnType<typeof startTamperingProxy>>;
type Tamper = (request: PassingRequest, forward: Forward) => Promise<Passed>;

export async function startTamperingProxy(target: string) {
  const forward: Forward = ({ method, path, headers, body }) => send(target, { method, path, headers, body });
  const pass = (request: PassingRequest) => forward(request);
  let answer: Tamper = pass;
  const server = createServer(async (req, res) => {
    const passed: Passed = await answer(await readRequest(req), forward).catch(() => ({ status: 502, text: '{}' }));
    const { status, text, location } = passed;
    res.writeHead(status, { 'Content-Type': 'application/json', ...(location && { Location: location }) }).end(text);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Lets `next` answer each request from now on. Its `forward` asks the api. */
    tamper(next: Tamper) {
      answer = next;
    },
    /** Passes everything on as it is. */
    behave() {
      answer = pass;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const passedOn = ['authorization', 'content-type', 'x-request-id', 'accept'];

async function readRequest(req: IncomingMessage): Promise<PassingRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  const headers = passedOn.flatMap((name) => {
    const value = req.headers[name];
    return typeof value === 'string' ? [[name, value]] : [];
  });
  return {
    method: req.method ?? '',
    path: req.url ?? '',
    headers: Object.fromEntries(headers),
    body: text === '' ? undefined : JSON.parse(text),
  };
}
