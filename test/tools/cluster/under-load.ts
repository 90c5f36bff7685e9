import { strict as assert } from 'node:assert';
import type { FleetReport } from './agent/fleet.ts';
import type { LoadReport } from './agent/load.ts';
import type { AgentClient } from './agent-client.ts';
import type { Cluster } from './cluster.ts';

/** The clients' observations during a change of the cluster. */
interface Seen {
  readonly load: LoadReport;
  readonly fleet: FleetReport;
}

/**
 * Load by a client inside the cluster, and by a client outside it. The outside load is lower, because it goes through a
 * proxy whose TLS needs the same cores.
 */
export const loadOrders = { inside: { perSecond: 50, users: 24 }, outside: { perSecond: 15, users: 24 } };
export const fleetSize = 40;

/**
 * Runs the change under the load and the fleet, waits for the streams to be open again, and judges the clients'
 * observations. Reports them after the lines that `work` returns.
 */
export function checkUnderLoad(
  { reporter, agent }: Cluster,
  name: string,
  work: () => Promise<readonly string[]>,
  judge: (seen: Seen) => void,
): Promise<boolean> {
  return reporter.check(name, async () => {
    assertNothingLost(await look(agent), 'between the last check and this one: ');
    let lines: readonly string[];
    let seen: Seen;
    try {
      lines = await work();
    } finally {
      seen = await look(agent); // also after an error, so that it does not count for the next check
    }
    const { requests, seconds, perSecond } = seen.load;
    const least = (perSecond * seconds) / 2; // the machine may be shared
    assert.ok(requests >= least, `only ${requests} requests in ${seconds} s, which says nothing`);
    judge(seen);
    return [...lines, ...describeSeen(seen)];
  });
}

async function look(agent: AgentClient): Promise<Seen> {
  const fleet = await agent.call('lookAtFleet');
  return { load: await agent.call('lookAtLoad'), fleet };
}

/** Requires that no request failed, that no stream ended except by 1001, and that no reconnect was refused. */
export function assertNothingLost({ load, fleet }: Seen, when = ''): void {
  assert.deepEqual(
    load.failures,
    {},
    `${when}${load.failed} of ${load.requests} requests failed\n${load.failedAt.join('\n')}`,
  );
  const odd = Object.keys(fleet.closed).filter((end) => end !== '1001 SERVER_DRAINING');
  assert.deepEqual(odd, [], `${when}streams ended otherwise than by 1001: ${JSON.stringify(fleet.closed)}`);
  assert.deepEqual(fleet.refused, {}, `${when}handshakes were refused: ${JSON.stringify(fleet.refused)}`);
  assertOpen({ fleet }, when);
}

export function assertOpen({ fleet }: Pick<Seen, 'fleet'>, when = ''): void {
  assert.equal(fleet.open, fleetSize, `${when}streams that are open again`);
}

/** Requires that the gateway closed at least `atLeast` streams by 1001, without which the check proves nothing. */
export function assertMoved({ fleet }: Seen, atLeast: number): void {
  const moved = fleet.closed['1001 SERVER_DRAINING'] ?? 0;
  assert.ok(moved >= atLeast, `only ${moved} streams were closed by 1001 in place of ${atLeast} or more`);
}

function describeSeen({ load, fleet }: Seen): string[] {
  const { requests, seconds, failed } = load;
  const closed = Object.entries(fleet.closed).map(([end, count]) => `${count} × ${end}`);
  return [
    `${requests} requests in ${seconds} s, ${failed} failed`,
    `streams closed: ${closed.join(', ') || 'none'}; ${fleet.reopened} opened again; ${fleet.open} open`,
    ...Object.entries(load.failures).map(([failure, count]) => `failed: ${count} × ${failure}`),
    ...Object.entries(fleet.refused).map(([failure, count]) => `handshake failed: ${count} × ${failure}`),
  ];
}
