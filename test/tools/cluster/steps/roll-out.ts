import type { Cluster } from '../cluster.ts';
import { assertMoved, assertNothingLost, describeSeen, fleetSize, underLoad } from '../under-load.ts';

const components = ['api', 'push-gateway', 'worker'] as const;

/** Updates each Deployment by a rolling update, one after another. */
export async function checkRollOuts({ reporter, kubernetes, agent }: Cluster): Promise<void> {
  for (const component of components) {
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
  const args = ['upgrade', 'auth-account', 'charts/auth-account', ...values, '--set', `config.LOG_LEVEL=${logLevel}`];
  return checkRelease(cluster, 'helm upgrade with a changed value', args);
}

/** Restores the values of the installation. */
export function checkRollback(cluster: Cluster): Promise<void> {
  return checkRelease(cluster, 'helm rollback', ['rollback', 'auth-account', '1']);
}

async function checkRelease(
  { reporter, kubernetes, agent }: Cluster,
  name: string,
  args: readonly string[],
): Promise<void> {
  await reporter.check(`${name}: 0 failed requests, streams closed by 1001 only`, async () => {
    const seen = await underLoad(agent, async () => {
      await kubernetes.helm([...args, '--wait', '--timeout', '3m']);
      await Promise.all(components.map((component) => kubernetes.settled(component)));
    });
    assertNothingLost(seen);
    assertMoved(seen, fleetSize);
    return describeSeen(seen);
  });
}
