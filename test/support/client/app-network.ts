import type { StreamSocket } from '@auth-account/client';

/** Fate of one request. */
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

interface SentCall {
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

/**
 * Sends a request by the platform's own `fetch`, as an app does, and lets `fate` happen to it. `hold` resolves when a
 * held answer may be delivered.
 */
export async function meet(
  fate: Fate,
  url: string,
  init: RequestInit = {},
  hold: () => Promise<void> = async () => undefined,
): Promise<Response> {
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
      // Traefik answers like this if a service has no pods, unless it is configured to allow such services.
      return new Response('404 page not found\n', { status: 404 });
    case 'throttled':
      return new Response('{}', { status: 429, headers: { 'Retry-After': '1' } });
    case 'hangs':
      return new Promise((_, reject) =>
        init.signal?.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError'))),
      );
    case 'answer_held': {
      const answer = await fetch(url, { ...init, signal: null });
      await hold();
      return answer;
    }
  }
}

/** The network between an app and the services. Requests are real, and a test can plan what happens to each. */
export function createLossyNetwork() {
  const planned: { readonly part: string; readonly fate: Fate }[] = [];
  const sent: SentCall[] = [];
  const held: (() => void)[] = [];

  function nextFate(url: string): Fate {
    const found = planned.findIndex(({ part }) => url.includes(part));
    return found < 0 ? 'passes' : (planned.splice(found, 1)[0]?.fate ?? 'passes');
  }

  const network = {
    /** While false, no request gets through. */
    isOnline: true,
    /** Cookies of the requests that include credentials. */
    cookie: '',
    /** Every request that the app has sent. */
    sent,
    /** Returns the sent requests whose path contains the text. */
    to: (part: string) => sent.filter(({ path }) => path.includes(part)),
    /** Plans what happens to the next requests whose URL contains the text. Later requests pass again. */
    plan: (part: string, ...fates: Fate[]) => void planned.push(...fates.map((fate) => ({ part, fate }))),
    /** Drops all planned fates. */
    fix: () => void planned.splice(0),
    /** Number of answers that are held back. */
    held: () => held.length,
    /** Delivers the answers that were held back, even if their callers have given up. */
    release() {
      for (const deliver of held.splice(0)) deliver();
    },
    async fetch(url: string, init: RequestInit = {}): Promise<Response> {
      if (!network.isOnline) throw new TypeError('network request failed');
      sent.push({ path: new URL(url).pathname, headers: new Headers(init.headers), body: String(init.body ?? '') });
      const headers = { ...(init.headers as object), Cookie: network.cookie };
      const own = init.credentials === 'include' ? { ...init, headers } : init;
      return meet(nextFate(url), url, own, () => new Promise((resolve) => held.push(resolve)));
    },
  };
  return network;
}

/** Creates a WebSocket for an app, Node's own, whose steps are recorded. */
export function recordSockets() {
  const steps: string[] = [];
  const live = new Set<WebSocket>();
  let pongs = 0;
  const recorded = {
    /** Events of the streams: `open`, `sent auth`, `closed 4004`, `left`. */
    steps,
    /** `pong` frames that came. */
    pongs: () => pongs,
    /** Streams that are connected or connecting. */
    live: () => live.size,
    /** Handshakes so far, and their cookies. */
    handshakes: 0,
    cookie: '',
    /** While true, every handshake fails. */
    isRefused: false,
    /** URL to which a load balancer sends new streams from now on: `ws://…`. */
    base: undefined as string | undefined,
    /** Ends every stream as a lost connection does. */
    cut() {
      for (const socket of live) {
        const { onclose } = socket as unknown as StreamSocket;
        WebSocket.prototype.close.call(socket);
        live.delete(socket);
        onclose?.({ code: 1006, reason: '' });
      }
    },
    WebSocket: class extends WebSocket {
      constructor(url: string, protocols: string[]) {
        const path = new URL(url).pathname;
        const target = recorded.base === undefined ? url : `${recorded.base}${path}`;
        const { cookie: Cookie, isRefused } = recorded;
        super(isRefused ? target.replace('/ws/push-stream/', '/ws/nowhere/') : target, {
          protocols,
          ...(Cookie && { headers: { Cookie } }),
        } as unknown as string[]);
        recorded.handshakes += 1;
        live.add(this);
        this.addEventListener('open', () => steps.push('open'));
        this.addEventListener('message', ({ data }) => {
          if (JSON.parse(data).type === 'pong') pongs += 1;
        });
        this.addEventListener('close', ({ code }) => {
          if (live.delete(this)) steps.push(`closed ${code}`);
        });
      }
      override send(data: string): void {
        steps.push(`sent ${JSON.parse(data).type}`);
        super.send(data);
      }
      override close(code?: number): void {
        if (live.delete(this)) steps.push('left');
        super.close(code);
      }
    } as unknown as new (
      url: string,
      protocols: string[],
    ) => StreamSocket,
  };
  return recorded;
}
