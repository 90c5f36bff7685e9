import type { AuthClientOptions, StreamSocket } from '@auth-account/client';
import type { OnTraffic, Owner } from './traffic.ts';

/** The network of a phone, with its switches. */
export interface PhoneNetwork {
  /** Parts for the client. */
  readonly platform: Pick<AuthClientOptions, 'fetch' | 'WebSocket' | 'connectivity'>;
  /** Airplane mode: nothing goes out or comes in. */
  setOffline(isOffline: boolean): void;
  /** If so, the service does what it is asked next, but the phone never hears of it. */
  loseNextAnswer(isWanted: boolean): void;
}

export interface PhoneNetworkOptions {
  readonly owner: Owner;
  readonly onTraffic: OnTraffic;
  /** Called when an answer was lost as it was wished. */
  readonly onLost: () => void;
}

/** WebSocket close code "abnormal closure": no close frame came (RFC 6455, section 7.4.1). */
const abnormalClosure = 1006;

export function createPhoneNetwork({ owner, onTraffic, onLost }: PhoneNetworkOptions): PhoneNetwork {
  let isOffline = false;
  let losesNext = false;
  const signals = new Set<(isOnline: boolean) => void>();
  const cuts = new Set<() => void>();

  async function fetchOverNetwork(url: string, init: RequestInit = {}): Promise<Response> {
    const requestId = new Headers(init.headers).get('X-Request-ID') ?? '';
    const about = { owner, requestId, method: init.method ?? 'GET', path: new URL(url).pathname };
    if (isOffline) {
      onTraffic({ ...about, type: 'unsent', at: Date.now() });
      throw new TypeError('airplane mode');
    }
    onTraffic({ ...about, type: 'sent', at: Date.now() });
    const answer = await fetch(url, init);
    if (!losesNext && !isOffline) return answer;
    // The service has answered: what it did is done.
    await answer.arrayBuffer();
    losesNext = false;
    onTraffic({ owner, requestId, type: 'lost', at: Date.now() });
    onLost();
    throw new TypeError('the answer was lost');
  }

  const report = { owner, onTraffic };
  class PhoneSocket extends CuttableSocket {
    constructor(url: string, protocols: string[]) {
      super(isOffline ? undefined : new WebSocket(url, protocols), report);
      const cut = () => this.cut();
      cuts.add(cut);
      this.onEnd = () => cuts.delete(cut);
    }
  }

  return {
    platform: {
      fetch: fetchOverNetwork,
      WebSocket: PhoneSocket,
      connectivity: {
        subscribe(listener) {
          signals.add(listener);
          listener(!isOffline);
          return () => signals.delete(listener);
        },
      },
    },
    setOffline(value) {
      isOffline = value;
      if (value) for (const cut of [...cuts]) cut();
      for (const signal of signals) signal(!value);
    },
    loseNextAnswer(isWanted) {
      losesNext = isWanted;
    },
  };
}

/** A socket that ends for the phone when its network does, whatever the real one still does. */
class CuttableSocket implements StreamSocket {
  onopen: StreamSocket['onopen'] = null;
  onmessage: StreamSocket['onmessage'] = null;
  onclose: StreamSocket['onclose'] = null;
  onerror: StreamSocket['onerror'] = null;
  protected onEnd: () => void = () => undefined;
  readonly #socket: WebSocket | undefined;
  readonly #report: Pick<PhoneNetworkOptions, 'owner' | 'onTraffic'>;
  #hasOpened = false;
  #hasEnded = false;

  constructor(socket: WebSocket | undefined, report: Pick<PhoneNetworkOptions, 'owner' | 'onTraffic'>) {
    this.#socket = socket;
    this.#report = report;
    if (socket === undefined) {
      setTimeout(() => this.#end(abnormalClosure, ''));
      return;
    }
    socket.onopen = () => {
      this.#hasOpened = true;
      this.#tell({ type: 'stream_opened' });
      this.onopen?.(undefined as never);
    };
    socket.onmessage = ({ data }) => {
      if (this.#hasEnded) return;
      this.#tell({ type: 'frame', frame: typeOf(data), isFromPhone: false });
      this.onmessage?.({ data });
    };
    socket.onclose = ({ code, reason }) => this.#end(code, reason);
  }

  send(data: string): void {
    this.#tell({ type: 'frame', frame: typeOf(data), isFromPhone: true });
    this.#socket?.send(data);
  }

  close(code?: number): void {
    this.#socket?.close(code);
  }

  cut(): void {
    this.#end(abnormalClosure, '');
    this.#socket?.close();
  }

  #end(code: number, reason: string): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.#hasOpened) this.#tell({ type: 'stream_closed', code, reason });
    this.onEnd();
    this.onclose?.({ code, reason });
  }

  #tell(
    what:
      | { type: 'stream_opened' }
      | { type: 'stream_closed'; code: number; reason: string }
      | { type: 'frame'; frame: string; isFromPhone: boolean },
  ): void {
    const { owner, onTraffic } = this.#report;
    onTraffic({ ...what, owner, at: Date.now() });
  }
}

/** The type of a frame; its content may hold a token. */
function typeOf(data: unknown): string {
  try {
    return String(JSON.parse(String(data)).type);
  } catch {
    return '';
  }
}
