import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort, spawnServer, waitUntil } from '@auth-account/local-stack';
import { stringify } from 'yaml';
import { createProcessGuard } from '../../support/create-process-guard.ts';
import { providePrometheusBinary } from './provide-prometheus.ts';
import type { RuleFile } from './rule-file.ts';

/** An alert in Prometheus's API. */
export interface ActiveAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly state: 'pending' | 'firing';
}

export interface Prometheus {
  alerts(): Promise<ActiveAlert[]>;
  /** Returns the values of an instant query. */
  query(expression: string): Promise<number[]>;
  close(): Promise<void>;
}

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

/** Starts a Prometheus that scrapes the targets (job → host and port) every second, with these rules. */
export async function startPrometheus(rules: RuleFile, targets: Readonly<Record<string, string>>): Promise<Prometheus> {
  const binary = await providePrometheusBinary('prometheus', { log: console.error });
  const dir = await mkdtemp(join(tmpdir(), 'auth-account-prometheus-'));
  const guard = createProcessGuard(dir);
  await writeFile(join(dir, 'rules.yaml'), stringify(rules));
  await writeFile(join(dir, 'prometheus.yaml'), stringify(toConfig(targets)));
  const address = `127.0.0.1:${await findFreePort()}`;
  const server = await spawnServer({
    name: 'prometheus',
    binary,
    args: [
      `--config.file=${join(dir, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(dir, 'data')}`,
      `--web.listen-address=${address}`,
      '--enable-feature=exemplar-storage',
    ],
    logFile: join(dir, 'prometheus.log'),
    onSpawn: guard.watch,
  });
  const ask = async <T>(path: string): Promise<T> => {
    const answer = await fetch(`http://${address}${path}`);
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    const { data } = (await answer.json()) as { data: T };
    return data;
  };
  const isReady = async () => {
    if (!server.isRunning()) throw new Error(`Prometheus ended:\n${await server.readLogTail()}`);
    return await fetch(`http://${address}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  };
  await waitUntil(isReady, { what: 'Prometheus ready', timeoutMs: 30_000 });
  return {
    alerts: async () => (await ask<{ alerts: ActiveAlert[] }>('/api/v1/alerts')).alerts,
    async query(expression) {
      const path = `/api/v1/query?query=${encodeURIComponent(expression)}`;
      const { result } = await ask<{ result: { value: [at: number, value: string] }[] }>(path);
      return result.map(({ value: [, value] }) => Number(value));
    },
    async close() {
      await server.end('SIGTERM');
      await rm(dir, { recursive: true, force: true });
      guard.dismiss();
    },
  };
}
