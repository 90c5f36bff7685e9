import dns, { type LookupAddress, type LookupOptions } from 'node:dns';
import { answerCalls } from '../../process-calls/answer-calls.ts';
import { ask } from './ask.ts';
import { countArrivals, paceReceiver, registerMany, walkMainPath } from './events.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { type Load, type LoadOrder, startLoad } from './load.ts';
import { newSessions, type Session, type StreamsOrder } from './sessions.ts';
import { holdIdleStreams, type IdleStreams, logOutAcross, outliveTokens, walkCloses } from './streams.ts';

/** The test's agent, inside or outside the cluster, which answers calls on its stdin. */
let load: Load | undefined;
let fleet: Fleet | undefined;
let idle: IdleStreams | undefined;

function running<T>(what: T | undefined): T {
  if (what === undefined) throw new Error('it was not started');
  return what;
}

const calls = {
  ask,
  newSession: async (api: string): Promise<Session> => running((await newSessions(api, 1))[0]),
  walkMainPath,
  async startLoad(order: LoadOrder): Promise<void> {
    load = await startLoad(order);
  },
  lookAtLoad: () => running(load).look(),
  stopLoad: () => running(load).stop(),
  async startFleet(order: StreamsOrder): Promise<void> {
    fleet = await startFleet(order);
  },
  lookAtFleet: () => running(fleet).look(),
  stopFleet: () => running(fleet).stop(),
  logOutAcross,
  walkCloses,
  outliveTokens,
  async holdIdle(order: Parameters<typeof holdIdleStreams>[0]): Promise<void> {
    idle = await holdIdleStreams(order);
  },
  lookAtIdle: () => running(idle).look(),
  registerMany,
  paceReceiver,
  countArrivals,
};

/**
 * Resolves names as `AGENT_HOSTS` says, for an agent outside the cluster whose DNS does not know them.
 * `.example.test=192.0.2.1` gives every name with this ending the address. Sockets, TLS and `fetch` all use
 * `dns.lookup`.
 */
function resolveHosts(hosts: string): void {
  const [ending = '', address = ''] = hosts.split('=');
  const original = dns.lookup;
  type Callback = (error: Error | null, address: string | LookupAddress[], family?: number) => void;
  const lookup = (name: string, options: LookupOptions, callback: Callback) => {
    if (!name.endsWith(ending)) original(name, options as never, callback as never);
    else if (options.all) callback(null, [{ address, family: 4 }]);
    else callback(null, address, 4);
  };
  dns.lookup = lookup as typeof dns.lookup;
}

if (process.env.AGENT_HOSTS) resolveHosts(process.env.AGENT_HOSTS);
export type AgentCalls = typeof calls;
answerCalls(calls);
