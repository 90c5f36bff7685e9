import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';

export interface LaneRequest {
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
  readonly token?: string;
}

/** Sends requests on connections that stay open, as a proxy in front of the api does. */
export interface HttpLane {
  /** `data` of a success. Throws at any other answer. */
  // biome-ignore lint/suspicious/noExplicitAny: each operation knows the shape of its answer.
  send(sent: LaneRequest): Promise<any>;
  close(): void;
}

export function openHttpLane(port: number): HttpLane {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  return {
    async send({ method = 'POST', path, body, token }) {
      const payload = body === undefined ? '' : JSON.stringify(body);
      const headers = {
        'X-Request-ID': 'bench-cost',
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...(body === undefined
          ? {}
          : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(payload) }),
      };
      const { promise, resolve, reject } = Promise.withResolvers<{ status: number; answer: string }>();
      const sent = request({ agent, host: '127.0.0.1', port, method, path, headers }, (res) => {
        text(res).then((answer) => resolve({ status: res.statusCode ?? 0, answer }), reject);
      });
      sent.on('error', reject);
      sent.end(payload);
      const { status, answer } = await promise;
      if (status >= 300) throw new Error(`${path} answered ${status}: ${answer}`);
      return JSON.parse(answer).data;
    },
    close: () => agent.destroy(),
  };
}
