import type { Cluster } from '../cluster.ts';
import { services, settings } from '../kubernetes.ts';
import { assertMoved, assertNothingLost, checkUnderLoad, fleetSize } from '../under-load.ts';

const promise = '0 failed requests, streams closed by 1001 only';

/** Updates each Deployment by a rolling update, one after another. */
export async function checkRollOuts(cluster: Cluster): Promise<void> {
  const { kubectl, settled } = cluster.kubernetes;
  for (const component of services) {
    const work = async () => {
      await kubectl(['rollout', 'restart', `deployment/auth-account-${component}`]);
      await settled(component);
      return [];
    };
    await checkUnderLoad(cluster, `rolling update of ${component}: ${promise}`, work, (seen) => {
      assertNothingLost(seen);
      if (component === 'push-gateway') assertMoved(seen, fleetSize);
    });
  }
}

/**
 * Changes a value by `helm upgrade`, so that all Deployments roll out at once. `logLevel` must differ from the
 * release's.
 */
export function checkUpgrade(cluster: Cluster, values: readonly string[], logLevel = 'warn'): Promise<boolean> {
  const changed = [...values, ...settings(`config.LOG_LEVEL=${logLevel}`)];
  return checkRelease(cluster, 'helm upgrade with a changed value', () => cluster.kubernetes.upgrade(changed));
}

/** Restores the values of the installation. */
export function checkRollback(cluster: Cluster): Promise<boolean> {
  const args = ['rollback', 'auth-account', '1', '--wait', '--timeout', '3m'];
  return checkRelease(cluster, 'helm rollback', () => cluster.kubernetes.helm(args));
}

function checkRelease(cluster: Cluster, name: string, change: () => Promise<unknown>): Promise<boolean> {
  const work = async () => {
    await change();
    await cluster.kubernetes.allSettled();
    return [];
  };
  return checkUnderLoad(cluster, `${name}: ${promise}`, work, (seen) => {
    assertNothingLost(seen);
    assertMoved(seen, fleetSize);
  });
}
