import dns, { type LookupAddress, type LookupOptions } from 'node:dns';
import { once } from 'node:events';
import { openSocket } from '../../../support/gateway/raw-connection.ts';
import { answerCalls } from '../../process-calls/answer-calls.ts';
import { ask } from './ask.ts';
import { outliveTokens, walkCloses } from './closes.ts';
import { countArrivals, paceReceiver, registerMany } from './events.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { holdIdleStreams, type IdleStreams } from './idle-streams.ts';
import { type Load, type LoadOrder, startLoad } from './load.ts';
import { logOutAcross } from './log-out-across.ts';
import { newSessions, type Session, type StreamsOrder } from './sessions.ts';
import { walkMainPath } from './walk-main-path.ts';

/** The test's agent, inside or outside the cluster, which answers calls on its stdin. */
const connectLimitMs = 10_000;
let load: Load | undefined;
let fleet: Fleet | undefined;
let idle: IdleStreams | undefined;

function running<T>(what: T | undefined): T {
  if (what === undefined) throw new Error('it was not started');
  return what;
}

const calls = {
  ask,
  /** Tries to connect. If a NetworkPolicy forbids it, the result is `timeout`. */
  async connect({ host, port }: { readonly host: string; readonly port: number }) {
    const socket = openSocket(port, { host });
    try {
      await once(socket, 'connect', { signal: AbortSignal.timeout(connectLimitMs) });
      return 'connected';
    } catch (error) {
      if ((error as Error).name === 'AbortError') return 'timeout';
      if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return 'refused';
      throw error;
    } finally {
      socket.destroy();
    }
  },
  async newSession(api: string): Promise<Session> {
    const [session] = await newSessions(api, 1);
    return running(session);
  },
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
