import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { testIssuer } from '../api/device-key.ts';
import { bundleClient } from './client-bundle.ts';

/**
 * `skipMs` in the page moves its monotonic clock. With `?bound` the page binds its sessions to a key, and with `?api=` it
 * calls an api on another origin.
 */
const script = `
import {
  account, boundKey, browserKeys, browserPasskeys, browserPlatform, createAuthClient, passkeys, secondFactor,
} from '/client.js';
window.skipMs = 0;
window.events = [];
window.auth = createAuthClient({
  baseUrl: new URLSearchParams(location.search).get('api') ?? location.origin,
  groups: [account, passkeys(browserPasskeys()), secondFactor],
  ...browserPlatform(),
  ...(location.search === '?bound' && { boundKey: boundKey(browserKeys(), { origin: '${testIssuer}' }) }),
  monotonic: () => performance.now() + window.skipMs,
});
window.auth.subscribe((event) => window.events.push(event.type));
`;

const modules = [
  ...['adapters/bound-key', 'adapters/browser', 'adapters/browser-passkeys'],
  ...['groups/account', 'groups/passkeys', 'groups/second-factor'],
];

export type ClientPage = Awaited<ReturnType<typeof startClientPage>>;

/**
 * Starts a web server with a page that loads the client. Like an ingress, it stands before an api, so both have one
 * origin. It removes `/prefix` from the paths that it passes on. The api may start after it.
 */
export async function startClientPage(apiBase: () => string) {
  const files: Readonly<Record<string, readonly [type: string, text: string]>> = {
    '/': ['text/html', '<!doctype html><title>The client</title><script type="module" src="/page.js"></script>'],
    '/page.js': ['text/javascript', script],
    '/client.js': ['text/javascript', await bundleClient(modules, 'esm')],
  };
  const requests: string[] = [];

  async function pass(request: IncomingMessage): Promise<Response> {
    const { method = 'GET', url = '/' } = request;
    requests.push(url);
    const body = await buffer(request);
    const { host: _host, connection: _connection, 'content-length': _length, ...headers } = request.headers;
    const sent = headers as Record<string, string>;
    return fetch(`${apiBase()}${url.replace(/^\/prefix/, '')}`, {
      method,
      headers: sent,
      ...(body.length > 0 && { body: new Uint8Array(body) }),
    });
  }

  const server = createServer(async (request, response) => {
    const file = files[request.url?.replace(/\?.*$/, '') ?? ''];
    if (file) {
      response.writeHead(200, { 'Content-Type': file[0] }).end(file[1]);
      return;
    }
    try {
      const answer = await pass(request);
      const type = answer.headers.get('Content-Type') ?? 'text/plain';
      response.writeHead(answer.status, { 'Content-Type': type }).end(await answer.text());
    } catch {
      response.writeHead(502).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    /** Paths of the requests to the api. */
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
