import { runCommand } from './run-command.ts';

export const namespace = 'auth-cluster-test';

/** The label of namespaces that the test has created. The test deletes no others. */
const [ownKey, ownValue] = ['test', 'auth-account-cluster'];

/** Recreates the namespace, under the Pod Security Standard "restricted". Throws if it exists and is not the test's. */
export async function createNamespace(): Promise<void> {
  await deleteNamespace();
  const found = await runCommand('kubectl', ['get', 'namespace', namespace, '--ignore-not-found', '-o', 'name']);
  if (found !== '') {
    throw new Error(`the namespace ${namespace} is not the test's: it lacks the label ${ownKey}=${ownValue}`);
  }
  const modes = ['enforce', 'warn', 'audit'].map((mode) => [`pod-security.kubernetes.io/${mode}`, 'restricted']);
  const labels = Object.fromEntries([[ownKey, ownValue], ...modes]);
  const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } };
  await runCommand('kubectl', ['create', '-f', '-'], { input: JSON.stringify(object) });
}

export async function deleteNamespace(): Promise<void> {
  const own = ['-l', `${ownKey}=${ownValue}`, '--field-selector', `metadata.name=${namespace}`];
  const args = ['delete', 'namespace', ...own, '--ignore-not-found', '--wait', '--timeout=150s'];
  await runCommand('kubectl', args, { timeoutMs: 160_000 });
}
