import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { openSocket } from '../../../support/gateway/raw-connection.ts';
import { ask } from './ask.ts';
import { countArrivals, paceReceiver, registerMany } from './events.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { holdIdleStreams, type IdleStreams } from './idle-streams.ts';
import { type Load, startLoad } from './load.ts';
import { logOutAcross } from './log-out-across.ts';
import { outliveTokens } from './outlive-tokens.ts';
import type { AgentCalls } from './protocol.ts';
import { resolveHosts } from './resolve-hosts.ts';
import { newSessions } from './sessions.ts';
import { walkCloses } from './walk-closes.ts';
import { walkMainPath } from './walk-main-path.ts';

/**
 * The test's agent, inside or outside the cluster. Carries out the orders on its stdin (`protocol.ts`), and ends with
 * it.
 */
const connectLimitMs = 10_000;
resolveHosts();
let load: Load | undefined;
let fleet: Fleet | undefined;
let idle: IdleStreams | undefined;

function running<T>(what: T | undefined): T {
  if (what === undefined) throw new Error('it was not started');
  return what;
}

const calls: AgentCalls = {
  ask,
  async connect({ host, port }) {
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
  async newSession({ api }) {
    const [session] = await newSessions(api, 1);
    return running(session);
  },
  walkMainPath,
  async startLoad(order) {
    load = await startLoad(order);
    return null;
  },
  lookAtLoad: () => running(load).look(),
  stopLoad: () => running(load).stop(),
  async startFleet(order) {
    fleet = await startFleet(order);
    return null;
  },
  lookAtFleet: () => running(fleet).look(),
  stopFleet: () => running(fleet).stop(),
  logOutAcross,
  walkCloses,
  outliveTokens,
  async holdIdle(order) {
    idle = await holdIdleStreams(order);
    return null;
  },
  lookAtIdle: () => running(idle).look(),
  registerMany,
  paceReceiver,
  countArrivals,
};

async function answer(line: string): Promise<void> {
  const { id, name, argument } = JSON.parse(line) as { id: number; name: keyof AgentCalls; argument: never };
  let outcome: { readonly result: unknown } | { readonly error: string };
  try {
    outcome = { result: await calls[name](argument) };
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    outcome = { error: [code, message].filter(Boolean).join(': ') };
  }
  process.stdout.write(`${JSON.stringify({ id, ...outcome })}\n`);
}

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => void answer(line));
lines.on('close', () => process.exit(0));
