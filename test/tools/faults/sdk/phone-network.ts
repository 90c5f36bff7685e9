import type { Platform } from '@auth-account/client';
import { WebSocket } from 'ws';
import { anyOf } from '../load/app.ts';
import type { Secrets } from './secrets.ts';
import { createSwitch, type Switch } from './switch.ts';

export interface NetworkOptions {
  readonly apiPorts: readonly number[];
  readonly gatewayPorts: readonly number[];
  readonly random: () => number;
  readonly secrets: Secrets;
}

/** A phone's connections, each to any process of a service, as a load balancer spreads them. */
export interface PhoneNetwork extends Switch {
  readonly fetch: Platform['fetch'];
  readonly WebSocket: NonNullable<Platform['WebSocket']>;
  /** Breaks all connections, without a word. */
  cut(): void;
  /** Number of refreshes that were answered 200. */
  refreshes(): number;
}

export function createPhoneNetwork({ apiPorts, gatewayPorts, random, secrets }: NetworkOptions): PhoneNetwork {
  const sockets = new Set<WebSocket>();
  let requests = new AbortController();
  let refreshes = 0;

  function cut(): void {
    requests.abort();
    requests = new AbortController();
    for (const socket of sockets) socket.terminate();
  }

  class AnyGateway extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(`ws://127.0.0.1:${anyOf(random, gatewayPorts)}${new URL(url).pathname}`, protocols);
      for (const token of protocols.slice(1)) secrets.add(token);
      sockets.add(this);
      this.once('close', () => sockets.delete(this));
    }
  }

  const network = createSwitch((isOn) => isOn || cut());
  return {
    ...network,
    cut,
    refreshes: () => refreshes,
    WebSocket: AnyGateway as unknown as NonNullable<Platform['WebSocket']>,
    async fetch(url, init = {}) {
      secrets.noteRequest(init);
      if (!network.isOn()) throw new TypeError('no network');
      const { pathname } = new URL(url);
      const signal = AbortSignal.any([requests.signal, ...(init.signal ? [init.signal] : [])]);
      const response = await fetch(`http://127.0.0.1:${anyOf(random, apiPorts)}${pathname}`, { ...init, signal });
      if (response.ok && pathname.endsWith('/refresh')) refreshes += 1;
      return response;
    },
  };
}
