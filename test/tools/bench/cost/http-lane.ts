import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';

export interface LaneRequest {
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  /** Body: an object is sent as JSON, parameters as a form. */
  readonly body?: object | URLSearchParams;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends requests on connections that stay open, as a proxy in front of the api does. */
export interface HttpLane {
  /** Returns `data` of a success, if it has one. Throws at any other answer. */
  // biome-ignore lint/suspicious/noExplicitAny: each operation knows the shape of its answer.
  send(sent: LaneRequest): Promise<any>;
  close(): void;
}

export function openHttpLane(port: number): HttpLane {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  return {
    async send({ method = 'POST', path, body, token, headers: more }) {
      const { type, payload } = encoded(body);
      const headers = {
        'X-Request-ID': 'bench-cost',
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...(type === undefined ? {} : { 'Content-Type': type, 'Content-Length': Buffer.byteLength(payload) }),
        ...more,
      };
      const { promise, resolve, reject } = Promise.withResolvers<{ status: number; answer: string }>();
      const sent = request({ agent, host: '127.0.0.1', port, method, path, headers }, (res) => {
        text(res).then((answer) => resolve({ status: res.statusCode ?? 0, answer }), reject);
      });
      sent.on('error', reject);
      sent.end(payload);
      const { status, answer } = await promise;
      if (status >= 300) throw new Error(`${path} answered ${status}: ${answer}`);
      return answer === '' ? undefined : JSON.parse(answer)?.data;
    },
    close: () => agent.destroy(),
  };
}

function encoded(body: LaneRequest['body']): { type?: string; payload: string } {
  if (body === undefined) return { payload: '' };
  if (body instanceof URLSearchParams) return { type: 'application/x-www-form-urlencoded', payload: body.toString() };
  return { type: 'application/json', payload: JSON.stringify(body) };
}
