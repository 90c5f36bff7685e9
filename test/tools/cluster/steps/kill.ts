import { strict as assert } from 'node:assert';
import { waitUntil } from '@auth-account/local-stack';
import type { Cluster } from '../cluster.ts';
import { isReady } from '../kubernetes.ts';
import { describeSeen, fleetSize, underLoad } from '../under-load.ts';

/** A program that sends SIGKILL to the child of a container's init. It spares the processes of `exec`. */
const kill = `const { readdirSync, readFileSync } = require('node:fs');
for (const pid of readdirSync('/proc').filter((name) => Number(name) > 1)) {
  const stat = readFileSync('/proc/' + pid + '/stat', 'utf8');
  if (stat.slice(stat.lastIndexOf(')')).split(' ')[2] === '1') process.kill(Number(pid), 'SIGKILL');
}`;

/** Kills a process of each service without warning. The effect on its clients is reported, and recovery is required. */
export async function checkKills({ reporter, kubernetes, agent }: Cluster): Promise<void> {
  for (const component of ['api', 'push-gateway', 'worker']) {
    await reporter.check(
      `SIGKILL of ${component}: it is back, and so are the streams (failures are counted)`,
      async () => {
        const pod = (await kubernetes.podsOf(component)).find(isReady);
        assert.ok(pod, `no pod of ${component} is ready`);
        const { name } = pod.metadata;
        const restarts = async () =>
          (await kubernetes.podsOf(component)).find(({ metadata }) => metadata.name === name)?.status
            .containerStatuses?.[0]?.restartCount ?? 0;
        const before = await restarts();
        const seen = await underLoad(agent, async () => {
          await kubernetes.kubectl(['exec', name, '-c', component, '--', 'node', '-e', kill]);
          const isRestarted = async () => (await restarts()) > before;
          await waitUntil(isRestarted, { what: `${name} has restarted`, timeoutMs: 30_000, intervalMs: 500 });
          await kubernetes.settled(component);
        });
        assert.equal(seen.fleet.open, fleetSize, 'streams that are open again');
        return describeSeen(seen);
      },
    );
  }
}
