import { Agent, type AgentOptions, type ClientRequest, type IncomingHttpHeaders, request } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';

export type { Agent };

/** A request without its body. */
export interface RequestHead {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** Agent whose connections are used. Without an agent, the request has a separate connection. */
  readonly agent?: Agent | undefined;
  /** Aborts the request. */
  readonly signal?: AbortSignal;
}

export interface SentRequest extends RequestHead {
  readonly path: string;
  /** An object is sent as JSON; text and bytes are sent as they are. */
  readonly body?: unknown;
}

export interface TextAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface Answer extends TextAnswer {
  // biome-ignore lint/suspicious/noExplicitAny: tests assert the shape of answers, the compiler cannot know it.
  readonly json: any;
}

/** Creates an agent whose connections stay open between requests. They use TLS if `url` begins with `https:`. */
export function keepConnections(options: AgentOptions = {}, url = 'http:'): Agent {
  return new (url.startsWith('https:') ? TlsAgent : Agent)({ ...options, keepAlive: true });
}

/** Begins a request. The caller writes its body, and ends or aborts it. */
export function begin(base: string, { path = '', agent, ...head }: RequestHead): ClientRequest {
  return (base.startsWith('https:') ? tlsRequest : request)(base + path, { ...head, agent: agent ?? false });
}

/** Returns the answer when all of it has come. Rejects if the connection breaks first. */
export function answerTo(sent: ClientRequest): Promise<TextAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<TextAnswer>();
  sent.on('error', reject);
  sent.on('response', (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('error', reject);
    response.on('end', () => {
      const { statusCode: status = 0, headers } = response;
      resolve({ status, headers, text: Buffer.concat(chunks).toString() });
    });
  });
  return promise;
}

/**
 * The HTTP client of tests and tools: sends one request, on a separate connection unless there is an agent. The global
 * `fetch` would keep connections, and so Jest, alive for seconds.
 */
export async function send(base: string, { method = 'POST', headers, body, ...head }: SentRequest): Promise<Answer> {
  const payload = encodeBody(body);
  const length = payload === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(payload)) };
  const sent = begin(base, { ...head, method, headers: { ...length, ...headers } });
  const answer = await answerTo(sent.end(payload));
  const isJson = answer.text !== '' && answer.headers['content-type']?.startsWith('application/json');
  return { ...answer, json: isJson ? JSON.parse(answer.text) : undefined };
}

/** Returns the answer to a GET without headers. */
export const get = (base: string, path = ''): Promise<Answer> => send(base, { method: 'GET', path });

function encodeBody(body: unknown): string | Uint8Array | undefined {
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) return body;
  return JSON.stringify(body);
}
