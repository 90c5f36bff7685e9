import type { Cluster } from '../cluster.ts';
import { services, settings } from '../kubernetes.ts';
import { assertMoved, assertNothingLost, describeSeen, fleetSize, underLoad } from '../under-load.ts';

/** Updates each Deployment by a rolling update, one after another. */
export async function checkRollOuts({ reporter, kubernetes, agent }: Cluster): Promise<void> {
  for (const component of services) {
    await reporter.check(`rolling update of ${component}: 0 failed requests, streams closed by 1001 only`, async () => {
      const seen = await underLoad(agent, async () => {
        await kubernetes.kubectl(['rollout', 'restart', `deployment/auth-account-${component}`]);
        await kubernetes.settled(component);
      });
      assertNothingLost(seen);
      if (component === 'push-gateway') assertMoved(seen, fleetSize);
      return describeSeen(seen);
    });
  }
}

/**
 * Changes a value by `helm upgrade`, so that all Deployments roll out at once. `logLevel` must differ from the
 * release's.
 */
export function checkUpgrade(cluster: Cluster, values: readonly string[], logLevel = 'warn'): Promise<void> {
  const changed = [...values, ...settings(`config.LOG_LEVEL=${logLevel}`)];
  return checkRelease(cluster, 'helm upgrade with a changed value', () => cluster.kubernetes.upgrade(changed));
}

/** Restores the values of the installation. */
export function checkRollback(cluster: Cluster): Promise<void> {
  const args = ['rollback', 'auth-account', '1', '--wait', '--timeout', '3m'];
  return checkRelease(cluster, 'helm rollback', () => cluster.kubernetes.helm(args));
}

async function checkRelease(
  { reporter, kubernetes, agent }: Cluster,
  name: string,
  change: () => Promise<unknown>,
): Promise<void> {
  await reporter.check(`${name}: 0 failed requests, streams closed by 1001 only`, async () => {
    const seen = await underLoad(agent, async () => {
      await change();
      await kubernetes.allSettled();
    });
    assertNothingLost(seen);
    assertMoved(seen, fleetSize);
    return describeSeen(seen);
  });
}
