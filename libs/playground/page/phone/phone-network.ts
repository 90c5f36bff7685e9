import type { AuthClientOptions, StreamSocket } from '@auth-account/client';
import { requestOf, tracedFetch } from './traced-fetch.ts';
import { type OnTraffic, type Owner, type StreamTraffic, shownContent } from './traffic.ts';

/** The network of a phone, with its switches. */
export interface PhoneNetwork {
  /** The network's part of the client's platform. */
  readonly platform: Pick<AuthClientOptions, 'fetch' | 'WebSocket' | 'connectivity'>;
  /** Switches airplane mode, in which nothing goes out or comes in. */
  setOffline(isOffline: boolean): void;
  /** If true, every URL shows a hotel's login page, and no stream opens. */
  setCaptive(isCaptive: boolean): void;
  /** If true, the service carries out the next request, but the phone does not get the answer. */
  loseNextAnswer(isWanted: boolean): void;
  /**
   * If true, cuts the open stream silently, like an expired NAT entry: neither side notices. If false, ends such a
   * stream.
   */
  setHalfOpen(isHalfOpen: boolean): void;
}

export interface PhoneNetworkOptions {
  readonly owner: Owner;
  readonly onTraffic: OnTraffic;
  /** Called when an answer was lost because of `loseNextAnswer`. */
  readonly onLost: () => void;
}

/** WebSocket close code "abnormal closure": no close frame came (RFC 6455, section 7.4.1). */
const abnormalClosure = 1006;

export function createPhoneNetwork({ owner, onTraffic, onLost }: PhoneNetworkOptions): PhoneNetwork {
  let isOffline = false;
  let isCaptive = false;
  let losesNext = false;
  const signals = new Set<(isOnline: boolean) => void>();
  const sockets = new Set<CuttableSocket>();

  async function fetchOverNetwork(url: string, init: RequestInit = {}): Promise<Response> {
    if (isOffline || isCaptive) {
      const because = isOffline ? 'offline' : 'portal';
      onTraffic({ ...requestOf(owner, url, init), type: 'unsent', because, at: Date.now() });
    }
    if (isOffline) throw new TypeError('airplane mode');
    if (isCaptive) return new Response('<h1>Welcome to the hotel</h1>', { headers: { 'Content-Type': 'text/html' } });
    const isLost = () => {
      if (losesNext) onLost();
      const isSo = losesNext || isOffline;
      losesNext = false;
      return isSo;
    };
    return tracedFetch(owner, onTraffic, { url, init, isLost });
  }

  const report = { owner, onTraffic };
  class PhoneSocket extends CuttableSocket {
    constructor(url: string, protocols: string[]) {
      super(isOffline || isCaptive ? undefined : new WebSocket(url, protocols), report);
      sockets.add(this);
      this.onEnd = () => sockets.delete(this);
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
      if (value) for (const socket of [...sockets]) socket.cut();
      for (const signal of signals) signal(!value);
    },
    setCaptive(value) {
      isCaptive = value;
      if (value) for (const socket of [...sockets]) socket.cut();
    },
    loseNextAnswer(isWanted) {
      losesNext = isWanted;
    },
    setHalfOpen(isHalfOpen) {
      for (const socket of [...sockets]) socket.setSilent(isHalfOpen);
    },
  };
}

/** A socket that ends for the phone when the phone's network ends, even if the real socket stays open. */
class CuttableSocket implements StreamSocket {
  onopen: StreamSocket['onopen'] = null;
  onmessage: StreamSocket['onmessage'] = null;
  onclose: StreamSocket['onclose'] = null;
  onerror: StreamSocket['onerror'] = null;
  protected onEnd: () => void = () => undefined;
  readonly #socket: WebSocket | undefined;
  readonly #report: Pick<PhoneNetworkOptions, 'owner' | 'onTraffic'>;
  #hasOpened = false;
  #isSilent = false;
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
      if (this.#hasEnded || this.#isSilent) return;
      this.#tell(frameOf(data, { isFromPhone: false, isLost: false }));
      this.onmessage?.({ data });
    };
    socket.onclose = ({ code, reason }) => this.#end(code, reason);
  }

  send(data: string): void {
    this.#tell(frameOf(data, { isFromPhone: true, isLost: this.#isSilent }));
    if (!this.#isSilent) this.#socket?.send(data);
  }

  close(code?: number): void {
    this.#socket?.close(code);
  }

  cut(): void {
    this.#end(abnormalClosure, '');
    this.#socket?.close();
  }

  setSilent(isSilent: boolean): void {
    if (this.#isSilent && !isSilent) this.cut();
    this.#isSilent = isSilent;
  }

  #end(code: number, reason: string): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.#hasOpened) this.#tell({ type: 'stream_closed', code, reason });
    this.onEnd();
    this.onclose?.({ code, reason });
  }

  #tell(what: StreamEvent): void {
    const { owner, onTraffic } = this.#report;
    onTraffic({ ...what, owner, at: Date.now() });
  }
}

type Without<T> = T extends StreamTraffic ? Omit<T, 'owner' | 'at'> : never;
type StreamEvent = Without<StreamTraffic>;

function frameOf(data: unknown, ends: { readonly isFromPhone: boolean; readonly isLost: boolean }): StreamEvent {
  const content = shownContent(String(data));
  const frame = typeof content === 'object' && content !== null && 'type' in content ? String(content.type) : '';
  return { type: 'frame', frame, content, ...ends };
}
