import { bearer } from '../../../support/api/api-driver.ts';
import { answerTo, begin, keepConnections } from '../../../support/http-client.ts';

export interface LaneRequest {
  readonly method?: string;
  readonly path: string;
  /** An object is sent as JSON, and parameters as a form. */
  readonly body?: object | URLSearchParams;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends requests of the bench on connections that stay open, as a proxy in front of the api does. */
export interface HttpLane {
  /** Returns the `data` of a success, if it has any. Throws on any other answer. */
  // biome-ignore lint/suspicious/noExplicitAny: each operation knows the shape of its answer.
  send(sent: LaneRequest): Promise<any>;
  close(): void;
}

export function openHttpLane(port: number, maxSockets = 64): HttpLane {
  const agent = keepConnections({ maxSockets });
  const base = `http://127.0.0.1:${port}`;
  return {
    async send({ method = 'POST', path, body, token, headers: more }) {
      const { type, payload } = encoded(body);
      const headers = {
        'X-Request-ID': 'bench-cost',
        ...(token === undefined ? {} : bearer(token)),
        ...(type === undefined ? {} : { 'Content-Type': type, 'Content-Length': String(Buffer.byteLength(payload)) }),
        ...more,
      };
      const { status, text } = await answerTo(begin(base, { agent, method, path, headers }).end(payload));
      if (status >= 300) throw new Error(`${path} answered ${status}: ${text}`);
      return text === '' ? undefined : JSON.parse(text)?.data;
    },
    close: () => agent.destroy(),
  };
}

function encoded(body: LaneRequest['body']): { type?: string; payload: string } {
  if (body === undefined) return { payload: '' };
  if (body instanceof URLSearchParams) return { type: 'application/x-www-form-urlencoded', payload: body.toString() };
  return { type: 'application/json', payload: JSON.stringify(body) };
}
