import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mainOf, nodeFor } from '@auth-account/local-stack';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

const preload = join(import.meta.dirname, 'cache-stripped.cjs');
let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'auth-account-stripped-'));
  await writeFile(join(dir, 'package.json'), '{ "type": "module" }');
});

afterEach(() => rm(dir, { recursive: true }));

async function run(source: string, file = 'program.ts'): Promise<{ stdout: string; stderr: string }> {
  await writeFile(join(dir, file), source);
  const { promise, resolve } = Promise.withResolvers<{ stdout: string; stderr: string }>();
  // The Node of npm's scripts is the gateway's.
  const node = nodeFor(mainOf('push-gateway'));
  const env = { NODE_COMPILE_CACHE: join(dir, 'cache'), NODE_OPTIONS: `--require="${preload}"` };
  execFile(node, [join(dir, file)], { env }, (_, stdout, stderr) => resolve({ stdout, stderr }));
  return promise;
}

async function kept(): Promise<string[]> {
  const folders = (await readdir(join(dir, 'cache'))).filter((name) => name.startsWith('stripped-'));
  return readdir(join(dir, 'cache', folders[0] ?? 'stripped'));
}

const place = `interface Place { readonly line: string }
const place: Place = { line: new Error().stack?.split('\\n')[1] ?? '' };
console.log(place.line);
`;

test('a program runs from the cache as from its source, with the same line numbers, and without a warning', async () => {
  const first = await run(place);
  expect(first).toEqual({ stdout: expect.stringContaining('program.ts:2:30'), stderr: '' });
  const [file, ...others] = await kept();
  expect(others).toEqual([]);
  expect(await run(place)).toEqual(first);
  expect(await kept()).toEqual([file]);
});

test('a changed source runs in its new form', async () => {
  expect((await run('const one: number = 1; console.log(one);')).stdout).toBe('1\n');
  expect((await run('const one: number = 2; console.log(one);')).stdout).toBe('2\n');
});

test('an error in a source names the file', async () => {
  expect((await run('enum One { two }')).stderr).toContain('program.ts');
});

test('TypeScript in node_modules is refused', async () => {
  await mkdir(join(dir, 'node_modules/one'), { recursive: true });
  await writeFile(join(dir, 'node_modules/one/package.json'), '{ "type": "module", "exports": "./one.ts" }');
  await writeFile(join(dir, 'node_modules/one/one.ts'), 'export const one: number = 1;');
  expect((await run("import { one } from 'one'; console.log(one);")).stderr).toContain('node_modules/one/one.ts');
});

test('a program runs without a folder that it may write to', async () => {
  await writeFile(join(dir, 'cache'), '');
  expect((await run(place)).stdout).toContain('program.ts:2:30');
});
