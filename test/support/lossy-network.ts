/** What becomes of one request. */
export type Fate = 'passes' | 'request_lost' | 'answer_lost' | 'captive_portal' | 'unavailable' | 'throttled' | 'hangs';

/** The way between an app and the services: real requests, each with a fate of its own. */
export interface LossyNetwork {
  readonly fetch: (url: string, init?: RequestInit) => Promise<Response>;
  /** Fates of the next requests whose address contains the text; then they pass again. */
  plan(part: string, ...fates: readonly Fate[]): void;
  /** While false, no request gets through. */
  isOnline: boolean;
  /** Method and path of each request that the app has sent, and its headers and body. */
  readonly sent: readonly SentCall[];
}

export interface SentCall {
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

export function createLossyNetwork(): LossyNetwork {
  const planned: { readonly part: string; readonly fate: Fate }[] = [];
  const sent: SentCall[] = [];

  function nextFate(url: string): Fate {
    const found = planned.findIndex(({ part }) => url.includes(part));
    return found < 0 ? 'passes' : (planned.splice(found, 1)[0]?.fate ?? 'passes');
  }

  async function meet(fate: Fate, url: string, init: RequestInit): Promise<Response> {
    switch (fate) {
      case 'passes':
        return fetch(url, init);
      case 'request_lost':
        throw new TypeError('network request failed');
      case 'answer_lost':
        await (await fetch(url, { ...init, signal: null })).text();
        throw new TypeError('network request failed');
      case 'captive_portal':
        return new Response('<html>Log in to the hotel</html>', {
          status: 200,
          headers: { 'Content-Type': 'text/html' },
        });
      case 'unavailable':
        return new Response('upstream connect error', { status: 503 });
      case 'throttled':
        return new Response('{}', { status: 429, headers: { 'Retry-After': '1' } });
      case 'hangs':
        return new Promise((_, reject) =>
          init.signal?.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError'))),
        );
    }
  }

  const network: LossyNetwork & { isOnline: boolean } = {
    isOnline: true,
    sent,
    plan: (part, ...fates) => planned.push(...fates.map((fate) => ({ part, fate }))),
    async fetch(url, init = {}) {
      if (!network.isOnline) throw new TypeError('network request failed');
      sent.push({ path: new URL(url).pathname, headers: new Headers(init.headers), body: String(init.body ?? '') });
      return meet(nextFate(url), url, init);
    },
  };
  return network;
}
