import { strict as assert } from 'node:assert';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeProtectedHeader } from 'jose';
import { bearer } from '../../../support/api/api-driver.ts';
import type { Session } from '../agent/sessions.ts';
import { apiBy } from '../agent-client.ts';
import { type Cluster, urlsOf } from '../cluster.ts';
import { type Kubernetes, untilFound } from '../kubernetes.ts';
import { findBlocks, findPreparation, runInShell, withPageFolder } from '../page-commands.ts';

const secretName = 'auth-keys';
const fileName = 'access-token-keys.json';
/**
 * Limit in milliseconds. The kubelet updates a Secret within a minute and a half, and the services read the file every
 * 10 s.
 */
const limitMs = 150_000;
/** Prints the ids of the keys, and whether each is private, but never a key. */
const printFacts = `const { keys } = JSON.parse(require('node:fs').readFileSync(process.env.ACCESS_TOKEN_KEYS_FILE, 'utf8'));
console.log(JSON.stringify(keys.map((key) => ({ kid: key.kid, isPrivate: 'd' in key }))));`;

/**
 * Publishes a new signing key behind the first one, and lets it sign, as docs/operations.md describes. No pod restarts:
 * the key reaches the files of all, private for the apis alone, and tokens of the old key hold.
 */
export async function checkRotation(cluster: Cluster): Promise<void> {
  const { kubernetes, reporter, agent } = cluster;
  await reporter.check('a new signing key reaches every pod without restarts, and signs; old tokens hold', async () => {
    const restarts = await containersOf(kubernetes);
    const newKid = (await rotate(kubernetes, 1)).at(-1) ?? '';
    const files = await untilFound('every pod has the published key', limitMs, async () => {
      const found = await filesInPods(kubernetes);
      return found.every(({ keys }) => keys.some(({ kid }) => kid === newKid)) ? found : undefined;
    });
    for (const { component, keys } of files) {
      assert.deepEqual(new Set(keys.map(({ isPrivate }) => isPrivate)), new Set([component === 'api']), component);
    }
    const old = await agent.call('newSession', 'http://auth-account-api');
    assert.notEqual(kidOf(old.access_token), newKid);
    await rotate(kubernetes, 2);
    const pods = urlsOf(await kubernetes.podsOf('api'), 'api');
    const [young] = await untilFound('every api pod signs by the new key', limitMs, async () => {
      const sessions = await Promise.all(pods.map((api) => agent.call('newSession', api)));
      return sessions.every(({ access_token }) => kidOf(access_token) === newKid) ? sessions : undefined;
    });
    await assertAccepted(cluster, pods, [old, young as Session]);
    await assertStreams(cluster, pods);
    assert.deepEqual(await containersOf(kubernetes), restarts, 'pods and restarts');
    return [];
  });
}

async function assertAccepted({ agent }: Cluster, apis: readonly string[], sessions: readonly Session[]) {
  for (const api of apis) {
    for (const { access_token } of sessions) {
      const { status } = await apiBy(agent, api).listSessions(bearer(access_token));
      assert.equal(status, 200, `${api} takes a token of ${kidOf(access_token)}`);
    }
  }
}

/** Asserts that every gateway accepts tokens of the key that now signs. */
async function assertStreams({ agent, kubernetes }: Cluster, apis: readonly string[]): Promise<void> {
  const gateways = urlsOf(await kubernetes.settled('push-gateway'), 'push');
  const reports = await agent.call('logOutAcross', { apis, gateways, each: 1 });
  assert.deepEqual(new Set(reports.flatMap(({ ends }) => ends)), new Set(['1000 LOGOUT_CONFIRMED']));
}

/** Returns the names of the pods, each with the number of its container's restarts. */
async function containersOf({ podsOf }: Kubernetes): Promise<string[]> {
  const pods = [...(await podsOf('api')), ...(await podsOf('worker'))];
  return pods.map(({ metadata, status }) => `${metadata.name} ${status.containerStatuses?.[0]?.restartCount}`).sort();
}

/** Returns the key file of each pod. */
async function filesInPods({ runInPod, podsOf }: Kubernetes) {
  const filesOf = async (component: 'api' | 'push-gateway') => {
    const printed = (await podsOf(component)).map(({ metadata }) => runInPod(metadata.name, component, printFacts));
    return (await Promise.all(printed)).map((text) => {
      const keys: { readonly kid: string; readonly isPrivate: boolean }[] = JSON.parse(text);
      return { component, keys };
    });
  };
  return [...(await filesOf('api')), ...(await filesOf('push-gateway'))];
}

/** Takes one of the three steps of docs/operations.md with its own commands. Returns the kids in the new order. */
function rotate({ namespace, read }: Kubernetes, step: 1 | 2): Promise<string[]> {
  return withPageFolder(async (folder) => {
    const { data } = await read(['get', 'secret', secretName]);
    await mkdir(join(folder, 'keys'), { mode: 0o700 });
    for (const [name, content] of Object.entries(data as Record<string, string>)) {
      await writeFile(join(folder, 'keys', name), Buffer.from(content, 'base64'), { mode: 0o600 });
    }
    const [block = ''] = findBlocks('Rotate a key');
    const [definitions = '', ...steps] = block.split(/^(?=authctl keys rotate)/m);
    const lines = `${definitions}\n${steps[step - 1]}`
      .replaceAll('KIND-FILE', 'access-token-keys')
      .replaceAll('KIND', 'access')
      // The test can't wait as long as resource servers are given to fetch the key.
      .replace('--activate', '--activate --now');
    const { status, said } = runInShell(`set -e\n${findPreparation(namespace).functions}\n${lines}`, { cwd: folder });
    assert.equal(status, 0, said);
    const { keys } = JSON.parse(await readFile(join(folder, 'keys', fileName), 'utf8'));
    return keys.map(({ kid }: { kid: string }) => kid);
  });
}

const kidOf = (token: string) => decodeProtectedHeader(token).kid;
