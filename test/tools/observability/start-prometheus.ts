import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findFreePort, spawnServer, waitUntil } from '@auth-account/local-stack';
import { stringify } from 'yaml';
import { get } from '../../support/http-client.ts';
import { openGuardedFolder } from '../../support/processes/guarded-folder.ts';
import { providePrometheusBinary } from './provide-prometheus.ts';
import type { RuleFile } from './rule-file.ts';

/** An alert in Prometheus's API. */
export interface ActiveAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly state: 'pending' | 'firing';
}

export type Prometheus = Awaited<ReturnType<typeof startPrometheus>>;

function toConfig(targets: Readonly<Record<string, string>>) {
  return {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: ['rules.yaml'],
    scrape_configs: Object.entries(targets).map(([job_name, target]) => ({
      job_name,
      static_configs: [{ targets: [target] }],
    })),
  };
}

/** Starts a Prometheus with these rules that scrapes the targets (`host:port` by job) every second. */
export async function startPrometheus(rules: RuleFile, targets: Readonly<Record<string, string>>) {
  const binary = await providePrometheusBinary('prometheus', console.error);
  const folder = await openGuardedFolder('prometheus');
  await writeFile(join(folder.dir, 'rules.yaml'), stringify(rules));
  await writeFile(join(folder.dir, 'prometheus.yaml'), stringify(toConfig(targets)));
  const address = `127.0.0.1:${await findFreePort()}`;
  const base = `http://${address}`;
  const server = await spawnServer({
    name: 'prometheus',
    binary,
    args: [
      `--config.file=${join(folder.dir, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(folder.dir, 'data')}`,
      `--web.listen-address=${address}`,
      '--enable-feature=exemplar-storage',
    ],
    logFile: join(folder.dir, 'prometheus.log'),
    onSpawn: folder.watch,
  });
  const ask = async <T>(path: string): Promise<T> => {
    const { status, text, json } = await get(base, path);
    if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`);
    return json.data;
  };
  const isReady = async () => {
    if (!server.isRunning()) throw new Error(`Prometheus ended:\n${await server.readLogTail()}`);
    return await get(base, '/-/ready').then(
      ({ status }) => status === 200,
      () => false,
    );
  };
  await waitUntil(isReady, { what: 'Prometheus ready', timeoutMs: 30_000 });
  return {
    alerts: async () => (await ask<{ alerts: ActiveAlert[] }>('/api/v1/alerts')).alerts,
    /** Returns the values of an instant query. */
    async query(expression: string): Promise<number[]> {
      const path = `/api/v1/query?query=${encodeURIComponent(expression)}`;
      const { result } = await ask<{ result: { value: [at: number, value: string] }[] }>(path);
      return result.map(({ value: [, value] }) => Number(value));
    },
    async close() {
      await server.end('SIGTERM');
      await folder.close();
    },
  };
}
