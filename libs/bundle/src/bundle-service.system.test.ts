import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Bundle, bundleService } from './bundle-service.ts';
import { closureOf, packagesOf } from './packages.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Packages that a bundle may hold twice, and the reason. */
const twice: Readonly<Record<string, string>> = {
  'ipaddr.js': 'Express wants 1',
  'lru-cache': 'npm puts the same version below each of its users, as its root has an older one',
  'sonic-boom': 'pino wants 4, pino-pretty 5',
  tslib: 'tsyringe, which @simplewebauthn/server brings, wants 1',
};

/** Licences that ask for nothing but their text. */
const permissive = /^(?:0BSD|Apache-2\.0|BSD-2-Clause|BSD-3-Clause|BlueOak-1\.0\.0|ISC|MIT|MIT-0|Unlicense)$/;

let target: string;
const made = new Map<string, Promise<Bundle>>();

/** Returns the service's bundle, which the first call makes in a folder of its name. */
function bundleOf(service: string): Promise<Bundle> {
  const bundle = made.get(service) ?? bundleService(service, join(target, service));
  made.set(service, bundle);
  return bundle;
}

beforeAll(async () => {
  // Below the project's node_modules, which have the packages that are not bundled.
  target = await mkdtemp(join(root, '.cache/bundle-'));
});
afterAll(() => rm(target, { recursive: true }));

describe.each(['api', 'push-gateway', 'worker', 'console', 'authctl'])('the bundle of %s', (service) => {
  let bundle: Bundle;

  beforeAll(async () => {
    bundle = await bundleOf(service);
  });

  const sources = () => Object.values(bundle.outputs).flatMap(({ inputs }) => Object.keys(inputs));

  test('a bundle holds the service and libraries that it imports, and no test, playground or client', () => {
    const own = sources().filter((path) => !/node_modules\//.test(path));
    expect(own).toContain(`services/${service}/src/main.ts`);
    expect(own.filter((path) => !path.startsWith('libs/') && !path.startsWith(`services/${service}/`))).toEqual([]);
    expect(own.filter((path) => /^libs\/(?:local-stack|client|bundle)\/|\.test\.ts$/.test(path))).toEqual([]);
  });

  test('a bundle holds only packages that its dependencies name in the lock file, as its SBOM does', () => {
    const needed = closureOf(root, [`services/${service}`]);
    const all = [...bundle.inside.map(({ folder }) => folder), ...closureOf(root, bundle.outside)];
    expect(all.filter((folder) => !needed.includes(folder))).toEqual([]);
  });

  test('a bundle without a queue holds no BullMQ', () => {
    expect(bundle.inside.some(({ name }) => name === 'bullmq')).toBe(service !== 'push-gateway');
  });

  test('a bundle and the packages beside it have permissive licences only', () => {
    const all = [...bundle.inside, ...packagesOf(root, closureOf(root, bundle.outside))];
    expect(all.filter(({ license }) => !permissive.test(license))).toEqual([]);
  });

  test('a bundle holds no package twice', () => {
    const names = bundle.inside.map(({ name }) => name);
    expect(names.filter((name, at) => names.indexOf(name) !== at && !(name in twice))).toEqual([]);
  });
});

test("authctl loads no driver for its version, and for a command only that command's packages", async () => {
  const { outputs } = await bundleOf('authctl');
  const findFile = (source: string) => Object.keys(outputs).find((path) => outputs[path]?.entryPoint?.endsWith(source));
  /** Returns the file with all files and packages outside that are loaded with it. */
  const loadedWith = (file: string, found = new Set<string>()): Set<string> => {
    if (found.has(file)) return found;
    found.add(file);
    const imports = outputs[file]?.imports.filter(({ kind }) => kind !== 'dynamic-import') ?? [];
    for (const { path } of imports) loadedWith(path, found);
    return found;
  };
  const loads = (source: string) => {
    const files = [...loadedWith(findFile(source) ?? '')];
    const inside = files.flatMap((file) => Object.keys(outputs[file]?.inputs ?? {}));
    return ['mongodb', 'ioredis', 'typebox', 'bullmq', 'nodemailer', 'commander'].filter(
      (name) => files.includes(name) || inside.some((path) => path.includes(`node_modules/${name}/`)),
    );
  };
  expect(loads('/src/main.ts')).toEqual(['commander']);
  expect(loads('/doctor-command.ts')).toEqual(['mongodb', 'ioredis', 'typebox']);
});

describe('the exporters of the environment', () => {
  beforeAll(() => bundleOf('push-gateway'));

  test.each([
    { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' },
    { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' },
    { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    { OTEL_TRACES_EXPORTER: 'zipkin,console' },
    { OTEL_METRICS_EXPORTER: 'otlp,console', OTEL_LOGS_EXPORTER: 'otlp,console' },
    { OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'grpc', OTEL_METRICS_EXPORTER: 'otlp' },
    { OTEL_EXPORTER_OTLP_LOGS_PROTOCOL: 'grpc', OTEL_LOGS_EXPORTER: 'otlp' },
  ])('a bundle has the exporters for an environment of %j', (chosen) => {
    const preload = pathToFileURL(join(target, 'push-gateway/preload.js')).href;
    const { status, stderr } = spawnSync(process.execPath, ['--import', preload, '--eval', 'process.exit()'], {
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', ...chosen },
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});

test('a stack trace names the sources of a bundle', async () => {
  const { outputs } = await bundleOf('api');
  const chunk = Object.keys(outputs).find((path) => outputs[path]?.exports.includes('startTracing')) ?? '';
  const address = pathToFileURL(join(root, chunk)).href;
  const fail = `import('${address}').then(({ startTracing }) => startTracing({ OTEL_PROPAGATORS: 'unknown' }, ''))`;
  const { stderr } = spawnSync(process.execPath, ['--eval', fail], { encoding: 'utf8' });
  expect(stderr).toMatch(
    /Error: OTEL_PROPAGATORS: unknown .*\n +at createNamed \(file:\S+\/start-tracing\.ts:\d+:\d+\)/,
  );
});
