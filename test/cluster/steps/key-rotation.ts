import { strict as assert } from 'node:assert';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from '@auth-account/local-stack';
import { authctlJson } from '../../support/authctl.ts';
import type { AgentSession } from '../agent/protocol.ts';
import { type Cluster, ports } from '../cluster.ts';
import type { Kubernetes } from '../kubernetes.ts';

const secretName = 'auth-keys';
const fileName = 'access-token-keys.json';
/** The kubelet looks at a Secret again within a minute and a half, the services at the file every 10 s. */
const limitMs = 150_000;
const readKids = `JSON.parse(require('node:fs').readFileSync(process.env.ACCESS_TOKEN_KEYS_FILE, 'utf8')).keys.map((key) => key.kid)`;

/** A rotation under way; its waits are long, so other checks go on in between. */
export interface Rotation {
  activate(): Promise<void>;
  finish(): Promise<void>;
}

/** Publishes a new signing key behind the first one, as docs/authctl.md describes. */
export async function beginRotation(cluster: Cluster): Promise<Rotation> {
  const { kubernetes, reporter, agent } = cluster;
  let restarts: string[] = [];
  let newKid = '';
  let publishedAt = 0;
  let old: AgentSession | undefined;
  let activatedAt = 0;
  await reporter.check('a new signing key is published in the Secret', async () => {
    restarts = await containersOf(kubernetes);
    newKid = (await rotate(kubernetes, [])).at(-1) ?? '';
    publishedAt = performance.now();
    return [];
  });

  return {
    async activate() {
      await reporter.check('the published key reaches every pod', async () => {
        assert.notEqual(newKid, '', 'it was not published');
        await waitUntil(async () => (await kidsInPods(kubernetes)).every((kids) => kids.includes(newKid)), {
          what: 'every pod has the published key',
          timeoutMs: limitMs,
          intervalMs: 2_000,
        });
        const seconds = ((performance.now() - publishedAt) / 1_000).toFixed(0);
        old = await agent.call('newSession', { api: 'http://auth-account-api' });
        await rotate(kubernetes, ['--activate', '--now']);
        activatedAt = performance.now();
        return [`in the files of all pods ${seconds} s after the Secret, at the latest; now it is the first`];
      });
    },
    async finish() {
      await reporter.check('without restarts new tokens get the new key, and old tokens hold', async () => {
        assert.ok(old, 'the key was not activated');
        const pods = (await kubernetes.podsOf('api')).map(({ status }) => `http://${status.podIP}:${ports.api}`);
        const signers = async () =>
          Promise.all(pods.map(async (api) => kidOf((await agent.call('newSession', { api })).access_token)));
        await waitUntil(async () => (await signers()).every((kid) => kid === newKid), {
          what: 'every api pod signs by the new key',
          timeoutMs: limitMs,
          intervalMs: 3_000,
        });
        const seconds = ((performance.now() - activatedAt) / 1_000).toFixed(0);
        assert.notEqual(kidOf(old.access_token), newKid);
        await assertAccepted(cluster, pods, [old, await agent.call('newSession', { api: pods[0] ?? '' })]);
        assert.deepEqual(await containersOf(kubernetes), restarts, 'pods and restarts');
        return [`every api pod signs by the new key ${seconds} s after the Secret, at the latest; 0 restarts`];
      });
    },
  };
}

async function assertAccepted({ agent }: Cluster, apis: readonly string[], sessions: readonly AgentSession[]) {
  for (const api of apis) {
    for (const { access_token } of sessions) {
      const headers = { Authorization: `Bearer ${access_token}` };
      const { status } = await agent.call('ask', { url: `${api}/api/v1/auth/sessions`, method: 'GET', headers });
      assert.equal(status, 200, `${api} takes a token of ${kidOf(access_token)}`);
    }
  }
}

/** Names of the pods with how often their containers have restarted. */
async function containersOf({ podsOf }: Kubernetes): Promise<string[]> {
  const pods = [...(await podsOf('api')), ...(await podsOf('worker'))];
  return pods.map(({ metadata, status }) => `${metadata.name} ${status.containerStatuses?.[0]?.restartCount}`).sort();
}

/** Which keys stand in the file that each pod has. */
async function kidsInPods({ kubectl, podsOf }: Kubernetes): Promise<string[][]> {
  const pods = [
    ...(await podsOf('api')).map((pod) => ({ pod, container: 'api' })),
    ...(await podsOf('push-gateway')).map((pod) => ({ pod, container: 'push-gateway' })),
  ];
  return Promise.all(
    pods.map(async ({ pod, container }) =>
      JSON.parse(
        await kubectl(['exec', pod.metadata.name, '-c', container, '--', 'node', '-p', `JSON.stringify(${readKids})`]),
      ),
    ),
  );
}

/** Changes the Secret as `authctl keys rotate` says; gives the kids in the new order. */
async function rotate({ kubectl, read }: Kubernetes, options: readonly string[]): Promise<string[]> {
  const directory = await mkdtemp(join(tmpdir(), 'cluster-keys-'));
  try {
    const file = join(directory, fileName);
    const { data } = await read(['get', 'secret', secretName]);
    await writeFile(file, Buffer.from(data[fileName], 'base64'), { mode: 0o600 });
    await authctlJson(['keys', 'rotate', 'access', '--file', file, ...options]);
    const text = await readFile(file);
    const patch = join(directory, 'patch.json');
    await writeFile(patch, JSON.stringify({ data: { [fileName]: text.toString('base64') } }), { mode: 0o600 });
    await kubectl(['patch', 'secret', secretName, '--type=merge', `--patch-file=${patch}`]);
    return JSON.parse(text.toString()).keys.map(({ kid }: { kid: string }) => kid);
  } finally {
    await rm(directory, { recursive: true });
  }
}

function kidOf(token: string): string {
  return JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid;
}
