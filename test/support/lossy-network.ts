/** What becomes of one request. */
export type Fate =
  | 'passes'
  | 'request_lost'
  | 'answer_lost'
  | 'sent_twice'
  | 'captive_portal'
  | 'foreign_401'
  | 'unavailable'
  | 'no_pod_left'
  | 'throttled'
  | 'hangs'
  | 'answer_held';

/** The way between an app and the services: real requests, each with a fate of its own. */
export interface LossyNetwork {
  readonly fetch: (url: string, init?: RequestInit) => Promise<Response>;
  /** Fates of the next requests whose address contains the text; then they pass again. */
  plan(part: string, ...fates: readonly Fate[]): void;
  /** Drops what is planned. */
  mend(): void;
  /** Delivers the answers that were held back, also to whoever has given up. */
  release(): void;
  /** Number of answers that are held back. */
  held(): number;
  /** While false, no request gets through. */
  isOnline: boolean;
  /** Every request that the app has sent. */
  readonly sent: readonly SentCall[];
  /** Those whose path contains the text. */
  to(part: string): readonly SentCall[];
}

export interface SentCall {
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

export function createLossyNetwork(): LossyNetwork {
  const planned: { readonly part: string; readonly fate: Fate }[] = [];
  const sent: SentCall[] = [];
  const held: (() => void)[] = [];

  function nextFate(url: string): Fate {
    const found = planned.findIndex(({ part }) => url.includes(part));
    return found < 0 ? 'passes' : (planned.splice(found, 1)[0]?.fate ?? 'passes');
  }

  async function meet(fate: Fate, url: string, init: RequestInit): Promise<Response> {
    const html = { headers: { 'Content-Type': 'text/html' } };
    switch (fate) {
      case 'passes':
        return fetch(url, init);
      case 'request_lost':
        throw new TypeError('network request failed');
      case 'answer_lost':
        await (await fetch(url, { ...init, signal: null })).text();
        throw new TypeError('network request failed');
      case 'sent_twice': {
        const answer = await fetch(url, { ...init, signal: null });
        await (await fetch(url, { ...init, signal: null })).text();
        return answer;
      }
      case 'captive_portal':
        return new Response('<html>Log in to the hotel</html>', { status: 200, ...html });
      case 'foreign_401':
        return new Response('<html>Log in to the hotel</html>', { status: 401, ...html });
      case 'unavailable':
        return new Response('upstream connect error', { status: 503 });
      case 'no_pod_left':
        // As Traefik answers, unless it may have services without pods.
        return new Response('404 page not found\n', { status: 404 });
      case 'throttled':
        return new Response('{}', { status: 429, headers: { 'Retry-After': '1' } });
      case 'hangs':
        return new Promise((_, reject) =>
          init.signal?.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError'))),
        );
      case 'answer_held': {
        const answer = await fetch(url, { ...init, signal: null });
        await new Promise<void>((resolve) => held.push(resolve));
        return answer;
      }
    }
  }

  const network: LossyNetwork & { isOnline: boolean } = {
    isOnline: true,
    sent,
    to: (part) => sent.filter(({ path }) => path.includes(part)),
    plan: (part, ...fates) => planned.push(...fates.map((fate) => ({ part, fate }))),
    mend: () => void planned.splice(0),
    held: () => held.length,
    release() {
      for (const deliver of held.splice(0)) deliver();
    },
    async fetch(url, init = {}) {
      if (!network.isOnline) throw new TypeError('network request failed');
      sent.push({ path: new URL(url).pathname, headers: new Headers(init.headers), body: String(init.body ?? '') });
      return meet(nextFate(url), url, init);
    },
  };
  return network;
}
