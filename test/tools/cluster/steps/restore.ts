import { strict as assert } from 'node:assert';
import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { bearer } from '../../../support/api/api-driver.ts';
import type { Session } from '../agent/sessions.ts';
import { type AgentClient, apiBy } from '../agent-client.ts';
import type { Cluster } from '../cluster.ts';
import type { Kubernetes } from '../kubernetes.ts';
import { findBlocks, findPreparation, runInShell, withPageFolder } from '../page-commands.ts';
import { authorityName, type ReverseProxy, withAgentOutside } from '../proxy.ts';
import { openEntrances } from './behind-proxy.ts';

/** Limit in milliseconds for the whole procedure. */
const limitMs = 900_000;
const programs = ['mongodump', 'mongorestore', 'redis-cli', 'jq'];

/**
 * Restores MongoDB from a mongodump with the commands of docs/operations.md. Everything after the backup is undone,
 * except that sessions that have ended since are ended again.
 */
export async function checkRestore(cluster: Cluster, proxy: ReverseProxy, values: readonly string[]): Promise<void> {
  const missing = programs.filter((program) => spawnSync('which', [program]).status !== 0);
  if (missing.length > 0) return console.log(`LEFT OUT: the restore, as there is no ${missing.join(', ')}`);
  const { kubernetes, reporter } = cluster;
  await withAgentOutside(proxy, async (outside) => {
    if (!(await openEntrances(cluster, outside, proxy, values))) return;
    await reporter.check('MongoDB is restored from a mongodump as the page says', async () => {
      const stores = await openConnections(kubernetes);
      const url = proxy.entrances[0]?.url ?? '';
      return withPageFolder((folder) => restore(kubernetes, outside, url, folder, stores)).finally(stores.close);
    });
  });
  await kubernetes.kubectl(['delete', 'configmap', authorityName]);
}

async function restore(
  { namespace, allSettled }: Kubernetes,
  outside: AgentClient,
  url: string,
  folder: string,
  stores: StoreConnections,
): Promise<string[]> {
  const { functions, start } = findPreparation(namespace);
  const variables = `export MONGODB_ADMIN='${stores.mongodb}' REDIS_ADMIN='${stores.redis}'`;
  const run = (lines: string) => {
    const { status, said } = runInShell(`set -euo pipefail\n${variables}\n${lines}`, { cwd: folder, timeout: limitMs });
    assert.equal(status, 0, said);
  };
  run(`${functions}\n${start}`);
  const api = apiBy(outside, url);
  const refresh = ({ refresh_token }: Session) => api.refreshTokens({ refresh_token });
  const logOut = (session: Session) => api.logOut({ refresh_token: session.refresh_token }, bearer(session));
  const newSession = () => outside.call('newSession', url);
  const [kept, ended] = [await newSession(), await newSession()];
  const moment = new Date().toISOString();
  run('mongodump --uri="$MONGODB_ADMIN" --oplog --gzip --archive=backup.gz');
  const keptLater = await refresh(kept);
  assert.equal((await logOut(ended)).status, 200);
  const late = await newSession();

  run([functions, `B=${moment}`, ...findBlocks('MongoDB is restored to an earlier time')].join('\n'));
  await allSettled();

  const read = await api.findAccount(bearer(keptLater.json.data));
  assert.equal(read.json.error_code, 'IAD_JWT_ACCESS_INVALID', 'a token of the former key');
  assert.equal((await refresh(keptLater.json.data)).status, 200, 'a session goes on after later refreshes');
  assert.equal((await refresh(ended)).json.error_code, 'IAD_JWT_REFRESH_STOLEN', 'ended again');
  assert.equal((await refresh(late)).json.error_code, 'IAD_JWT_REFRESH_EXPIRED', 'never was');
  assert.equal((await logOut(await newSession())).status, 200, 'all works again');
  return [];
}

type StoreConnections = Awaited<ReturnType<typeof openConnections>>;

/** Returns URLs of the stores for an administrator on this machine. */
async function openConnections({ namespace, read }: Kubernetes) {
  const secret = async (name: string, key: string) =>
    Buffer.from((await read(['get', 'secret', name])).data[key], 'base64')
      .toString()
      .trim();
  const [mongodb, redis] = await Promise.all([
    forward(namespace, 'mongodb-0', 27_017),
    forward(namespace, 'redis-0', 6_379),
  ]);
  const root = `root:${await secret('mongodb', 'root-password')}`;
  const auth = `auth:${await secret('redis', 'auth-password')}`;
  return {
    mongodb: `mongodb://${root}@127.0.0.1:${mongodb.port}/?directConnection=true&authSource=admin`,
    redis: `redis://${auth}@127.0.0.1:${redis.port}`,
    close() {
      mongodb.close();
      redis.close();
    },
  };
}

/** Forwards a port of this machine to a pod's port. */
async function forward(namespace: string, pod: string, port: number): Promise<{ port: string; close(): void }> {
  const args = ['-n', namespace, 'port-forward', `pod/${pod}`, `:${port}`];
  const child = spawn('kubectl', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) {
    const [, own] = /127\.0\.0\.1:(\d+)/.exec(line) ?? [];
    if (own !== undefined) return { port: own, close: () => void child.kill() };
  }
  throw new Error(`kubectl port-forward to ${pod} ended`);
}
