import type { Platform } from '@auth-account/client';
import { meet } from '../../../support/client/app-network.ts';
import { type PushClient, platformSocket } from '../../../support/gateway/push-client.ts';
import { anyOf } from '../load/app.ts';
import type { Secrets } from './secrets.ts';
import { createSwitch, type Switch } from './switch.ts';

export interface NetworkOptions {
  readonly apiPorts: readonly number[];
  readonly gatewayPorts: readonly number[];
  readonly random: () => number;
  readonly secrets: Secrets;
}

/** A phone's connections, each to a random process of a service, as through a load balancer. */
export interface PhoneNetwork extends Switch {
  readonly fetch: Platform['fetch'];
  readonly WebSocket: NonNullable<Platform['WebSocket']>;
  /** Breaks all connections without warning. */
  cut(): void;
  /** Returns the number of refreshes that were answered with 200. */
  refreshes(): number;
}

export function createPhoneNetwork({ apiPorts, gatewayPorts, random, secrets }: NetworkOptions): PhoneNetwork {
  const sockets = new Set<PushClient['socket']>();
  let requests = new AbortController();
  let refreshes = 0;

  function cut(): void {
    requests.abort();
    requests = new AbortController();
    for (const socket of sockets) socket.terminate();
  }

  const anyGateway = (url: string) => `ws://127.0.0.1:${anyOf(random, gatewayPorts)}${new URL(url).pathname}`;
  const network = createSwitch((isOn) => isOn || cut());
  return {
    ...network,
    cut,
    refreshes: () => refreshes,
    WebSocket: platformSocket(anyGateway, (socket, protocols) => {
      for (const token of protocols.slice(1)) secrets.add(token);
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    }),
    async fetch(asked, init = {}) {
      secrets.noteRequest(init);
      if (!network.isOn()) throw new TypeError('no network');
      const { pathname } = new URL(asked);
      const signal = AbortSignal.any([requests.signal, ...(init.signal ? [init.signal] : [])]);
      const url = `http://127.0.0.1:${anyOf(random, apiPorts)}${pathname}`;
      const response = await meet('passes', url, { ...init, signal });
      if (response.ok && pathname.endsWith('/refresh')) refreshes += 1;
      return response;
    },
  };
}
