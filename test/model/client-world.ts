import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import type { AuthClient, AuthClientOptions } from '@auth-account/client';
import { createAuthClient } from '@auth-account/client';
import { type Account, account } from '@auth-account/client/account';
import { boundKey, type DeviceKey, type DeviceKeys, rawSignature } from '@auth-account/client/bound-key';
import { type Federated, federated } from '@auth-account/client/federated';
import { AuthError } from '../../libs/client/src/http/auth-error.ts';
import { testIssuer } from '../support/api/device-key.ts';
import type { Person } from '../support/api/providers.ts';
import type { TestApi } from '../support/api/test-api.ts';
import { createDevice, type Device, type Life, never, thaw, whenRunning } from './client-device.ts';
import { createNetwork, type Network, serviceUrl } from './client-network.ts';
import { createObserved, type Observed } from './client-observed.ts';
import { createStreams, type Streams } from './client-streams.ts';
import type { VirtualTime } from './client-time.ts';

/** A tab of a page, or the only instance of an app. */
export interface Tab {
  readonly index: number;
  readonly client: AuthClient & Account & Federated;
  readonly life: Life;
}

/** Services that a course with streams needs beside the api. */
export interface StreamServices {
  /** Settles when the worker has ended the session. */
  forceLogout(sessionId: string): Promise<void>;
}

/** One device with its app, and the real services. */
export interface World {
  readonly api: TestApi;
  /** Undefined if streams are off. */
  readonly services: StreamServices | undefined;
  readonly streams: Streams | undefined;
  readonly time: VirtualTime;
  /** The services' time when the virtual clock began, in milliseconds since 1970. */
  readonly epoch: number;
  /** The device's key, to which the app binds its sessions; undefined if it does not. */
  readonly key: DeviceKey | undefined;
  readonly device: Device;
  readonly network: Network;
  readonly observed: Observed;
  readonly emails: readonly string[];
  /** The users at the provider. */
  readonly people: readonly Person[];
  /** The error of the device's wall clock. */
  clock: { offMs: number };
  tabs: (Tab | undefined)[];
  /** Tabs that are being created. A strike at that time must not create them twice. */
  readonly starting: Set<number>;
  /** Actions that wait for a later access to the platform. */
  strikes: { left: number; readonly run: () => void }[];
  /** The app's calls that have not settled. */
  readonly calls: Set<{ readonly what: string; readonly life: Life }>;
}

export interface WorldOptions {
  readonly api: TestApi;
  readonly services: StreamServices | undefined;
  readonly time: VirtualTime;
  readonly epoch: number;
  readonly emails: readonly string[];
  readonly people: readonly Person[];
  readonly tabs: number;
  readonly isBound: boolean;
  readonly mayLose: boolean;
}

export function createWorld(options: WorldOptions): World {
  const { api, services, time, epoch, emails, people, tabs, isBound, mayLose } = options;
  const strikes: World['strikes'] = [];
  const notify = () => {
    for (const strike of [...strikes]) {
      strike.left -= 1;
      if (strike.left > 0) continue;
      strikes.splice(strikes.indexOf(strike), 1);
      strike.run();
    }
  };
  const device = createDevice(time, notify, mayLose);
  const observed = createObserved(time.now, device);
  const network = createNetwork({ time, epoch, base: api.base, notify }, async () => streams?.settle());
  const isRevoked = async (_id: string) => (await api.collections.sessions.findOne({ _id }))?.is_revoked !== false;
  const streams = services && createStreams({ time, notify, network, isRevoked, observed, epoch });
  const world: World = {
    ...{ api, services, streams, time, epoch, emails, people, device, network, observed },
    key: isBound ? newKey() : undefined,
    clock: { offMs: 0 },
    tabs: Array.from({ length: tabs }, () => undefined),
    starting: new Set(),
    strikes,
    calls: new Set(),
  };
  for (let index = 0; index < tabs; index += 1) start(world, index);
  return world;
}

/** Starts the app, or the tab with this index, if it does not run. */
export function start(world: World, index: number): void {
  if (world.tabs[index] !== undefined || world.starting.has(index)) return;
  world.starting.add(index);
  const { device, time, network, observed, streams } = world;
  const life: Life = {
    isOver: false,
    blindReads: 0,
    isRefused: false,
    endings: new Set(),
    frozen: undefined,
    thawedAt: Number.NEGATIVE_INFINITY,
  };
  const isPage = world.tabs.length > 1;
  // Declared first, because the network asks for the client's state before the client is created.
  const holder: { client?: AuthClient } = {};
  const observer = observed.observerOf(life, () => holder.client?.state());
  const client = createAuthClient({
    groups: [account, federated],
    baseUrl: world.api.base,
    services: [serviceUrl],
    storage: device.storageOf(life),
    fetch: network.fetchOf(life, observer),
    timers: { after: (ms, work) => time.after(ms, () => whenRunning(life, () => life.isOver || work())) },
    // Each tab has its own monotonic clock.
    monotonic: () => time.now() + index * 1_000_000,
    random: () => randomAt(time.now()),
    now: () => world.epoch + time.now() + world.clock.offMs,
    ...(world.key && { boundKey: boundKey(keysOf(device, life, world.key), { origin: testIssuer }) }),
    connectivity: device.signalOf(life, device.online),
    appState: device.signalOf(life, device.active),
    ...(streams ? { WebSocket: streams.socketOf(life, observer.onHandshake) } : { stream: false }),
    ...(isPage ? { locks: device.locksOf(life), openChannel: device.channelOf(life) } : {}),
  } satisfies AuthClientOptions & { readonly groups: unknown });
  holder.client = client;
  client.subscribe((event) => life.isOver || observed.onEvent(index, event));
  // A listener that throws must break nothing.
  client.subscribe(() => {
    throw new Error('the listener of an app');
  });
  world.tabs[index] = { index, client, life };
  world.starting.delete(index);
}

/** Makes a key whose signatures need no time. */
function newKey(): DeviceKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    jwk: publicKey.export({ format: 'jwk' }) as DeviceKey['jwk'],
    sign: async (bytes) => rawSignature(sign('sha256', bytes, privateKey)),
    digest: async (bytes) => createHash('sha256').update(bytes).digest(),
  };
}

/** Returns the key store, which cannot be read while the device is locked. */
function keysOf(device: Device, life: Life, key: DeviceKey): DeviceKeys {
  const read = async () => {
    if (life.isOver) return never<DeviceKey>();
    if (device.isLocked) throw new Error('the key store is locked');
    return key;
  };
  return { find: read, make: read };
}

/** Returns the same jitter for the same moment, so that a seed repeats its course. */
function randomAt(now: number): number {
  const mixed = Math.imul(Math.floor(now) ^ 0x9e3779b9, 0x85ebca6b);
  return ((mixed ^ (mixed >>> 13)) >>> 0) / 2 ** 32;
}

/** Kills the app or one of its tabs. From then on nothing reaches what was killed. */
export function kill(world: World, index: number): void {
  const tab = world.tabs[index];
  if (tab === undefined) return;
  tab.life.isOver = true;
  world.tabs[index] = undefined;
  world.observed.onKill(world.device.faults);
  for (const end of [...tab.life.endings]) end();
  for (const call of world.calls) if (call.life === tab.life) world.calls.delete(call);
}

/** Calls the client without waiting for the result, as an app does. */
export function call(
  world: World,
  index: number,
  what: string,
  work: (client: AuthClient & Account & Federated) => Promise<unknown>,
): void {
  const tab = world.tabs[index];
  if (tab === undefined) return;
  // A call comes only from a page that its user has thawed.
  thaw(tab.life, world.time.now());
  const own = { what, life: tab.life };
  world.calls.add(own);
  const end = () => world.calls.delete(own);
  work(tab.client).then(end, (error: unknown) => {
    end();
    // The app's own request to a service fails as `fetch` does.
    const isKnown = error instanceof AuthError || (what === 'call a service' && error instanceof TypeError);
    world.observed.onRejected(what, error, isKnown);
  });
}
