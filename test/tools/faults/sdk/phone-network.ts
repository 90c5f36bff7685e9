import type { DeviceSignal } from '@auth-account/client';
import { meet } from '../../../support/client/app-network.ts';
import { type PushClient, platformSocket } from '../../../support/gateway/push-client.ts';
import { anyOf } from '../load/app.ts';
import type { Secrets } from './secrets.ts';

/** Creates a setting of a phone that its user changes, and that is on. */
export function createSwitch(onTurn: (value: boolean) => void = () => undefined) {
  const listeners = new Set([onTurn]);
  let isOn = true;
  return {
    isOn: () => isOn,
    turn(value: boolean) {
      isOn = value;
      for (const listener of listeners) listener(value);
    },
    signal: {
      subscribe(listener) {
        listeners.add(listener);
        listener(isOn);
        return () => listeners.delete(listener);
      },
    } satisfies DeviceSignal,
  };
}

export interface NetworkOptions {
  readonly apis: readonly string[];
  readonly gateways: readonly string[];
  readonly random: () => number;
  /** Called after each refresh that was answered with 200. */
  readonly onRefresh: () => void;
}

/** A phone's connections, each to a random process of a service, as through a load balancer. */
export function createPhoneNetwork(options: NetworkOptions, secrets: Secrets) {
  const { apis, gateways, random, onRefresh } = options;
  const sockets = new Set<PushClient['socket']>();
  let requests = new AbortController();

  function cut(): void {
    requests.abort();
    requests = new AbortController();
    for (const socket of sockets) socket.terminate();
  }

  const anyGateway = (url: string) => anyOf(random, gateways) + new URL(url).pathname;
  const network = createSwitch((isOn) => isOn || cut());
  return {
    ...network,
    /** Breaks all connections without warning. */
    cut,
    WebSocket: platformSocket(anyGateway, (socket, protocols) => {
      for (const token of protocols.slice(1)) secrets.add(token);
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    }),
    async fetch(asked: string, init: RequestInit = {}) {
      secrets.noteRequest(init);
      if (!network.isOn()) throw new TypeError('no network');
      const { pathname } = new URL(asked);
      const signal = AbortSignal.any([requests.signal, ...(init.signal ? [init.signal] : [])]);
      const response = await meet('passes', anyOf(random, apis) + pathname, { ...init, signal });
      if (response.ok && pathname.endsWith('/refresh')) onRefresh();
      return response;
    },
  };
}
