import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const run = promisify(execFile);
const home = fileURLToPath(new URL('..', import.meta.url));
const tsc = fileURLToPath(new URL('../../../node_modules/.bin/tsc', import.meta.url));

const useHttp = `
import { AppError, toHttp } from '@auth-account/errors';
console.log(toHttp(new AppError('IAD_GROUP_ALREADY_MEMBER'), { locale: 'en' }).status);
`;
const useGrpc = `
import { AppError } from '@auth-account/errors';
import { fromGrpc, toGrpc } from '@auth-account/errors/grpc';
const { code, encoded } = toGrpc(new AppError('IAD_GROUP_ALREADY_MEMBER'), { locale: 'en' });
console.log(code, fromGrpc({ metadata: { get: () => [encoded] } }).code);
`;
const useTypes = `
import { AppError, type DetailsOf } from '@auth-account/errors';
import { toGrpc } from '@auth-account/errors/grpc';
export const details: DetailsOf<'ERR-EMAIL-ALREADY-EXISTS'> = { rejected_email: 'ann@example.org' };
export const { encoded } = toGrpc(new AppError('ERR-EMAIL-ALREADY-EXISTS', { details }), { locale: 'ru' });
// @ts-expect-error a notice is not thrown
export const notice = new AppError('INV_STOCK_MASKED_MINUS');
`;

describe('the packed library in an empty project', () => {
  let project: string;

  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), 'errors-install-'));
    const { stdout } = await run('npm', ['run', '--silent', 'pack', '--', project], { cwd: home });
    await writeFile(join(project, 'package.json'), '{ "type": "module", "private": true }');
    const install = ['install', '--silent', '--prefer-offline', '--no-audit', '--no-fund', stdout.trim()];
    await run('npm', install, { cwd: project });
  }, 120_000);

  afterAll(() => rm(project, { recursive: true }));

  async function outputOf(program: string): Promise<string> {
    await writeFile(join(project, 'program.js'), program);
    return (await run(process.execPath, ['program.js'], { cwd: project })).stdout.trim();
  }

  test('answers over gRPC', async () => {
    expect(await outputOf(useGrpc)).toBe('9 IAD_GROUP_ALREADY_MEMBER');
  });

  test('brings its types', async () => {
    await writeFile(join(project, 'program.ts'), useTypes);
    const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2022', '--types', ''];
    await expect(run(tsc, [...options, 'program.ts'], { cwd: project })).resolves.toMatchObject({ stdout: '' });
  });

  test('holds no test and no TypeScript source', async () => {
    const { stdout } = await run('find', ['node_modules/@auth-account/errors', '-type', 'f'], { cwd: project });
    const files = stdout.trim().split('\n');
    expect(files).toContain('node_modules/@auth-account/errors/catalogue.json');
    expect(files.filter((file) => /\.(test|fixture)\.|(?<!\.d)\.ts$/.test(file))).toEqual([]);
  });

  test('answers over HTTP without the protobuf code', async () => {
    await rm(join(project, 'node_modules', '@bufbuild'), { recursive: true });
    expect(await outputOf(useHttp)).toBe('400');
    await expect(outputOf(useGrpc)).rejects.toThrow(/@bufbuild\/protobuf/);
  });
});
