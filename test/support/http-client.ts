import { type Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';

export interface SentRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** An object is sent as JSON; text and bytes are sent as they are. */
  readonly body?: unknown;
  /** Agent whose connections are used; without one the request has a separate connection. */
  readonly agent?: Agent;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests assert the shape of answers, the compiler cannot know it.
  readonly json: any;
}

/**
 * Sends one request, on a separate connection unless there is an agent. The global `fetch` keeps connections, and with
 * them Jest, alive for seconds.
 */
export function send(base: string, { method = 'POST', path, headers = {}, body, agent }: SentRequest): Promise<Answer> {
  const payload = encodeBody(body);
  const length = payload === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(payload)) };
  const options = { method, agent: agent ?? false, headers: { ...length, ...headers } };
  return new Promise((resolve, reject) => {
    const req = httpRequest(base + path, options, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('error', reject);
      res.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const json = res.headers['content-type'] === 'application/json' ? JSON.parse(text) : undefined;
        resolve({ status: res.statusCode ?? 0, headers: res.headers, text, json });
      });
    });
    req.on('error', reject);
    req.end(payload);
  });
}

function encodeBody(body: unknown): string | Uint8Array | undefined {
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) return body;
  return JSON.stringify(body);
}
