import { strict as assert } from 'node:assert';
import { spawnSync } from 'node:child_process';
import type { Cluster } from '../cluster.ts';
import { findPageCommands, findPreparation } from '../page-commands.ts';

/** For a command that hangs, in milliseconds. */
const limitMs = 240_000;

/** Answers of a command that is right, though there is nothing to show: no dead letter, no container before this one. */
const nothingThere = /^authctl: |previous terminated container/m;

/**
 * Runs what the runbooks and docs/operations.md tell to run, as it stands there, on the release. Scales it to its size
 * again, and takes the pod for authctl away.
 */
export async function checkPages({ reporter, kubernetes, agent }: Cluster): Promise<void> {
  const { kubectl, helm, namespace, podsOf, settled } = kubernetes;
  const components = ['api', 'push-gateway', 'worker'];
  await reporter.check('each command of the pages works', async () => {
    const preparation = findPreparation(namespace);
    const prepared = runInShell(preparation);
    assert.equal(prepared.status, 0, prepared.said);
    // Without what has just been done: the functions alone.
    const functions = preparation.replace(/^helm upgrade .*$/m, '');
    const authctlJson = (line: string) => JSON.parse(runInShell(`${functions}\nauthctl ${line} --json`).stdout);
    const email = `${crypto.randomUUID()}@cluster.invalid`;
    const registered = await agent.call('ask', {
      url: 'http://auth-account-api/api/v1/auth/register',
      body: { email, password: 'a kettle, two pans', space_creation_mode: 'CREATE_NEW_HOME' },
    });
    assert.equal(registered.status, 201);
    const values = {
      user_id: authctlJson(`user show ${email}`).user_id,
      request_id: registered.requestId ?? '',
      event_id: authctlJson('events list').events[0].event_id,
      subscriber: authctlJson('events subscribers').subscribers[0].name,
      pod: (await podsOf('api'))[0]?.metadata.name ?? '',
      why: 'a test of the pages',
    };
    const lines = findPageCommands(values).toSorted((one, other) => effectOf(one) - effectOf(other));
    const failures: string[] = [];
    for (const line of lines) {
      const { status, said } = runInShell(`${functions}\n${line}`);
      if (status !== 0 && !(status === 1 && nothingThere.test(said))) failures.push(`${line}: ${status} ${said}`);
    }
    await kubectl(['scale', ...components.map((name) => `deployment/auth-account-${name}`), '--replicas=2']);
    await helm([
      ...['upgrade', 'auth-account', 'charts/auth-account', '--reset-then-reuse-values'],
      ...['--set', 'authctl.enabled=false', '--wait', '--timeout', '4m'],
    ]);
    await Promise.all(components.map((name) => settled(name)));
    assert.deepEqual(failures, []);
    return [`${lines.length} commands`];
  });
}

/** What restarts pods comes after the others, and what ends them last. */
function effectOf(line: string): number {
  if (line.includes('--replicas=0')) return 2;
  return line.includes('rollout restart') ? 1 : 0;
}

function runInShell(script: string) {
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8', timeout: limitMs });
  return { status, stdout, said: `${stdout.slice(-1_000)}${stderr.slice(-1_000)}` };
}
