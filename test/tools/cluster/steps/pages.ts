import { strict as assert } from 'node:assert';
import { newAccount } from '../agent/sessions.ts';
import { apiBy } from '../agent-client.ts';
import type { Cluster } from '../cluster.ts';
import { services } from '../kubernetes.ts';
import { findPageCommands, findPreparation, runInShell } from '../page-commands.ts';

/** Matches answers of a right command that has nothing to show, such as no dead letter, or no previous container. */
const nothingThere = /^authctl: |previous terminated container/m;

/**
 * Runs the commands of the runbooks and of operators' other pages on the release, as they are written there. Then
 * scales the release to its size again. The last command removes the pod for authctl.
 */
export async function checkPages({ reporter, kubernetes, agent }: Cluster): Promise<void> {
  const { namespace, podsOf } = kubernetes;
  await reporter.check('each command of the pages works', async () => {
    const { functions, start } = findPreparation(namespace);
    const started = runInShell(`set -e\n${functions}\n${start}`);
    assert.equal(started.status, 0, started.said);
    const authctlJson = (line: string) => JSON.parse(runInShell(`${functions}\nauthctl ${line} --json`).stdout);
    const account = newAccount();
    const registered = await apiBy(agent).registerAccount(account);
    assert.equal(registered.status, 201);
    const values = {
      user_id: authctlJson(`user show ${account.email}`).user_id,
      request_id: registered.requestId ?? '',
      event_id: authctlJson('events list').events[0].event_id,
      subscriber: authctlJson('events subscribers').subscribers[0].name,
      pod: (await podsOf('api'))[0]?.metadata.name ?? '',
      why: 'a test of the pages',
    };
    const lines = findPageCommands(values).toSorted((one, other) => effectOf(one) - effectOf(other));
    const failures: string[] = [];
    try {
      for (const line of lines) {
        const { status, stdout, said } = runInShell(`${functions}\n${line}`);
        const isRight = status === 0 || (status === 1 && nothingThere.test(said));
        const asked = /^readyz (\S+)/.exec(line)?.[1];
        const answers = asked === undefined ? 0 : stdout.split('"checks":').length - 1;
        const isWhole = asked === undefined || answers === (await podsOf(asked)).length;
        if (!isRight || !isWhole) failures.push(`${line}: ${status} ${said}`);
      }
    } finally {
      await Promise.all(services.map((name) => kubernetes.scale(name, 2)));
    }
    await kubernetes.allSettled();
    assert.deepEqual(failures, []);
    const left = (await podsOf('authctl')).filter(({ metadata }) => !metadata.deletionTimestamp);
    assert.deepEqual(left, []);
    return [`${lines.length} commands`];
  });
}

/**
 * Returns a command's place in the order. Commands that restart pods come after others, then those that end pods, and
 * last the end of authctl's own pod.
 */
function effectOf(line: string): number {
  if (line.includes('component=authctl')) return 3;
  if (line.includes('--replicas=0')) return 2;
  return line.includes('rollout restart') ? 1 : 0;
}
