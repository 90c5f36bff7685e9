import { runCommand } from './run-command.ts';

export const namespace = 'auth-cluster-test';

/** Makes the namespace anew, under the Pod Security Standard "restricted". */
export async function createNamespace(): Promise<void> {
  await deleteNamespace();
  await runCommand('kubectl', ['create', 'namespace', namespace]);
  const labels = ['enforce', 'warn', 'audit'].map((mode) => `pod-security.kubernetes.io/${mode}=restricted`);
  await runCommand('kubectl', ['label', 'namespace', namespace, ...labels]);
}

export async function deleteNamespace(): Promise<void> {
  const args = ['delete', 'namespace', namespace, '--ignore-not-found', '--wait', '--timeout=150s'];
  await runCommand('kubectl', args, { timeoutMs: 160_000 });
}
