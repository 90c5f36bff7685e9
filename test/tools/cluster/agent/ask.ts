import { Agent, request } from 'node:http';

/** One request of an agent. */
export interface Question {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Body, sent as JSON. */
  readonly body?: unknown;
  /** Agent that keeps the connection; without one, the request has a separate connection. */
  readonly agent?: Agent;
}

export interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: each caller knows the shape that it asserts.
  readonly json: any;
  /** Milliseconds from the request to the last byte. */
  readonly ms: number;
}

const timeoutMs = 10_000;

/** Creates an agent with one connection, which stays open between requests. */
export function keepConnection(): Agent {
  return new Agent({ keepAlive: true, maxSockets: 1 });
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
export function ask({ url, method = 'POST', headers = {}, body, agent }: Question): Promise<Reply> {
  const start = performance.now();
  const payload = body === undefined ? '' : JSON.stringify(body);
  const requestId = `cluster-${crypto.randomUUID()}`;
  const needed = {
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(payload)),
    'X-Request-ID': requestId,
  };
  let phase = 'before it was connected';
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const options = { method, agent: agent ?? false, signal: AbortSignal.timeout(timeoutMs) };
  const sent = request(url, { ...options, headers: { ...needed, ...headers } }, async (answer) => {
    phase = 'in the answer';
    try {
      const text = Buffer.concat(await answer.toArray()).toString();
      const json = answer.headers['content-type'] === 'application/json' ? JSON.parse(text) : text;
      resolve({ status: answer.statusCode ?? 0, json, ms: performance.now() - start });
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
