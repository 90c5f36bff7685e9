import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Bundle, bundleService } from './bundle-service.ts';
import { closureOf } from './packages.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Packages that a bundle may hold twice, and the reason. */
const twice: Readonly<Record<string, string>> = {
  'ipaddr.js': 'Express wants 1',
  'lru-cache': 'npm puts the same version below each of its users, as its root has an older one',
  'sonic-boom': 'pino wants 4, pino-pretty 5',
};

let target: string;

beforeAll(async () => {
  target = await mkdtemp(join(tmpdir(), 'bundle-'));
});
afterAll(() => rm(target, { recursive: true }));

describe.each(['api', 'push-gateway', 'worker', 'authctl'])('the bundle of %s', (service) => {
  let bundle: Bundle;

  beforeAll(async () => {
    bundle = await bundleService(service, join(target, service));
  });

  const sources = () => Object.values(bundle.outputs).flatMap(({ inputs }) => Object.keys(inputs));

  test('holds the service and libraries that it imports, and no test, playground or client', () => {
    const own = sources().filter((path) => !path.includes('node_modules/'));
    expect(own).toContain(`services/${service}/src/main.ts`);
    expect(own.filter((path) => !path.startsWith('libs/') && !path.startsWith(`services/${service}/`))).toEqual([]);
    expect(own.filter((path) => /^libs\/(?:local-stack|client|bundle)\/|\.test\.ts$/.test(path))).toEqual([]);
  });

  test('holds only packages that its dependencies name in the lock file, as its SBOM does', () => {
    const needed = closureOf(root, [`services/${service}`]);
    const all = [...bundle.inside.map(({ folder }) => folder), ...closureOf(root, bundle.outside)];
    expect(all.filter((folder) => !needed.includes(folder))).toEqual([]);
  });

  test('holds no BullMQ where there is no queue, and no parts of it that nothing uses', () => {
    const isQueued = service !== 'push-gateway';
    expect(bundle.inside.some(({ name }) => name === 'bullmq')).toBe(isQueued);
    expect(sources().filter((path) => /\/bullmq\/.*\/(?:postgres\/|classes\/(?:relay|flow))/.test(path))).toEqual([]);
  });

  test('holds no package twice', () => {
    const names = bundle.inside.map(({ name }) => name);
    expect(names.filter((name, at) => names.indexOf(name) !== at && !(name in twice))).toEqual([]);
  });

  test('maps its own sources, and no package, for stack traces', async () => {
    const [name = ''] = Object.keys(bundle.outputs)
      .filter((path) => path.endsWith('.js.map'))
      .sort((a, b) => (bundle.outputs[b]?.bytes ?? 0) - (bundle.outputs[a]?.bytes ?? 0));
    const map = JSON.parse(await readFile(join(root, name), 'utf8'));
    expect(map.sources.some((source: string) => source.endsWith('/libs/config/src/load-config.ts'))).toBe(true);
  });
});
