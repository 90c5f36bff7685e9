import { strict as assert } from 'node:assert';
import { waitUntil } from '@auth-account/local-stack';
import type { Cluster } from '../cluster.ts';

const limitMs = 90_000;

/** The pod that stays for `helm test --logs`. Helm does not count it as part of the release. */
const testPod = 'pod/auth-account-test';

/** Checks that an uninstallation leaves only the objects of `before`, which existed before the installation. */
export async function checkUninstall({ reporter, kubernetes }: Cluster, before: ReadonlySet<string>): Promise<void> {
  await reporter.check('helm uninstall leaves nothing but the data, and the pod of helm test', async () => {
    await kubernetes.helm(['uninstall', 'auth-account', '--wait', '--timeout', '2m']);
    const selector = 'app.kubernetes.io/instance=auth-account,app.kubernetes.io/component=test';
    const tested = await kubernetes.kubectl(['delete', 'pod', '--selector', selector, '--output', 'name']);
    assert.ok(['', testPod].includes(tested.trim()), `left by helm test: ${tested}`);
    let left: string[] = [];
    const isGone = async () => {
      left = [...(await kubernetes.listAll())].filter((name) => !before.has(name));
      return left.length === 0;
    };
    await waitUntil(isGone, { what: 'all is gone', timeoutMs: limitMs, intervalMs: 1_000 }).catch((error) => {
      throw new Error(`left: ${left.join(', ')}`, { cause: error });
    });
    const after = await kubernetes.listAll();
    const lost = [...before].filter((name) => !after.has(name));
    assert.deepEqual(lost, [], 'gone though not of the release');
    return [`${after.size} objects, the same as before the installation`];
  });
}
