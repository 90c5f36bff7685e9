import { testIssuer } from '../api/device-key.ts';
import { startTamperingProxy } from '../stores/tampering-proxy.ts';
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
  const proxy = await startTamperingProxy(apiBase);
  proxy.tamper((request, forward) => {
    const file = files[request.path.replace(/\?.*$/, '')];
    if (file !== undefined) return Promise.resolve({ status: 200, type: file[0], text: file[1] });
    requests.push(request.path);
    return forward({ ...request, path: request.path.replace(/^\/prefix/, '') });
  });
  return {
    url: `${proxy.base}/`,
    /** Paths of the requests to the api. */
    requests,
    close: proxy.close,
  };
}
