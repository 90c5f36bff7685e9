import { Agent, request } from 'node:http';
import { request as requestByTls, Agent as TlsAgent } from 'node:https';

/** One request of an agent. */
export interface Question {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Body, sent as JSON. */
  readonly body?: unknown;
  /** Agent that keeps the connection; without one, the request has a separate connection. */
  readonly agent?: Agent;
  /** False: without `X-Request-ID`. */
  readonly isNamed?: boolean;
}

export interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: each caller knows the shape that it asserts.
  readonly json: any;
  /** `X-Request-ID` of the answer. */
  readonly requestId?: string | undefined;
  /** Milliseconds from the request to the last byte. */
  readonly ms: number;
}

const timeoutMs = 10_000;

/** Creates an agent with one connection, which stays open between requests. */
export function keepConnection(url: string): Agent {
  const options = { keepAlive: true, maxSockets: 1 };
  return url.startsWith('https:') ? new TlsAgent(options) : new Agent(options);
}

/** A request without an answer; the message says how far it came. */
export class AskError extends Error {
  /** `X-Request-ID`, by which the services' logs know it. */
  readonly requestId: string;

  constructor(cause: NodeJS.ErrnoException, phase: string, requestId: string) {
    super(`${cause.code ?? cause.name} ${phase}`, { cause });
    this.requestId = requestId;
  }
}

/** Sends once and never retries: rejects with an `AskError` on any fault of the connection and after 10 s. */
export function ask({ url, method = 'POST', headers = {}, body, agent, isNamed = true }: Question): Promise<Reply> {
  const start = performance.now();
  const payload = body === undefined ? '' : JSON.stringify(body);
  const requestId = `cluster-${crypto.randomUUID()}`;
  const needed = {
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(payload)),
    ...(isNamed ? { 'X-Request-ID': requestId } : {}),
  };
  let phase = 'before it was connected';
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const options = { method, agent: agent ?? false, signal: AbortSignal.timeout(timeoutMs) };
  const send = url.startsWith('https:') ? requestByTls : request;
  const sent = send(url, { ...options, headers: { ...needed, ...headers } }, async (answer) => {
    phase = 'in the answer';
    try {
      const text = Buffer.concat(await answer.toArray()).toString();
      const json = answer.headers['content-type'] === 'application/json' ? JSON.parse(text) : text;
      const status = answer.statusCode ?? 0;
      resolve({ status, json, requestId: answer.headers['x-request-id'] as string, ms: performance.now() - start });
    } catch (error) {
      fail(error as Error);
    }
  });
  const fail = (cause: Error) => reject(new AskError(cause, phase, requestId));
  sent.on('socket', (socket) => {
    const isConnected = () => {
      phase = 'while it waited for the answer';
    };
    if (socket.connecting) socket.once('connect', isConnected);
    else isConnected();
  });
  sent.on('error', fail);
  sent.end(payload);
  return promise;
}
