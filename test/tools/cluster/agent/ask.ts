import { drive, type Operations } from '../../../support/api/api-driver.ts';
import { type Agent, answerTo, begin, type SentRequest, type TextAnswer } from '../../../support/http-client.ts';

/** One request of an agent. Its body is sent as JSON. */
export interface Question extends Omit<SentRequest, 'path' | 'signal'> {
  readonly url: string;
  /** False to send no `X-Request-ID`. */
  readonly isNamed?: boolean;
}

export interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: each caller knows the shape that it asserts.
  readonly json: any;
  /** The `X-Request-ID` of the answer. */
  readonly requestId?: string | undefined;
  /** Milliseconds from the request to the last byte. */
  readonly ms: number;
}

const timeoutMs = 10_000;

/** The error of a request without an answer. The message says how far the request came. */
export class AskError extends Error {
  /** The request's `X-Request-ID`, by which the services' logs name it. */
  readonly requestId: string;

  constructor(cause: NodeJS.ErrnoException, phase: string, requestId: string) {
    super(`${cause.code ?? cause.name} ${phase}`, { cause });
    this.requestId = requestId;
  }
}

/** Creates a driver of the api, over the agent's connections if one is given. */
export function apiAt(api: string, agent?: Agent): Operations<Reply> {
  return drive(({ path, ...request }) => ask({ ...request, url: api + path, agent }));
}

/** Sends a request once, without retries. Rejects with an `AskError` on any fault of the connection, and after 10 s. */
export function ask({ url, method = 'POST', headers, body, agent, isNamed = true }: Question): Promise<Reply> {
  const start = performance.now();
  const payload = body === undefined ? '' : JSON.stringify(body);
  const requestId = `cluster-${crypto.randomUUID()}`;
  const needed = {
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(payload)),
    ...(isNamed ? { 'X-Request-ID': requestId } : {}),
  };
  let phase = 'before it was connected';
  const signal = AbortSignal.timeout(timeoutMs);
  const sent = begin(url, { method, headers: { ...needed, ...headers }, agent, signal });
  sent.on('socket', (socket) => {
    const isConnected = () => {
      phase = 'while it waited for the answer';
    };
    if (socket.connecting) socket.once('connect', isConnected);
    else isConnected();
  });
  sent.on('response', () => {
    phase = 'in the answer';
  });
  const replyOf = ({ status, headers: received, text }: TextAnswer): Reply => {
    const json = received['content-type'] === 'application/json' ? JSON.parse(text) : text;
    return { status, json, requestId: received['x-request-id'] as string, ms: performance.now() - start };
  };
  return answerTo(sent.end(payload))
    .then(replyOf)
    .catch((error) => Promise.reject(new AskError(error, phase, requestId)));
}
