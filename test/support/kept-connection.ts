import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';

/** A client with one connection, which stays open between its requests. */
export interface KeptConnection {
  send(sent: { readonly method?: string; readonly path: string; readonly body?: unknown }): Promise<KeptAnswer>;
  close(): void;
}

export interface KeptAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export function openKeptConnection(base: string): KeptConnection {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { 'Content-Type': 'application/json', 'X-Request-ID': 'kept-connection' };
  return {
    send({ method = 'POST', path, body }) {
      const payload = body === undefined ? '' : JSON.stringify(body);
      const length = { 'Content-Length': String(Buffer.byteLength(payload)) };
      return new Promise((resolve, reject) => {
        const sent = request(base + path, { agent, method, headers: { ...headers, ...length } }, (answer) => {
          const { statusCode = 0, headers: received } = answer;
          text(answer).then((body) => resolve({ status: statusCode, headers: received, text: body }), reject);
        });
        sent.on('error', reject);
        sent.end(payload);
      });
    },
    close: () => agent.destroy(),
  };
}
