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
const useWriteOff = `
import { decideWriteOff, notice } from '@auth-account/errors';
const home = decideWriteOff({ accountType: 'HOME', available: 2, requested: 5 });
console.log(home.balance, home.displayedBalance, notice(home.notice, { locale: 'en' }).reaction);
try {
  decideWriteOff({ accountType: 'OFFICE', available: 2, requested: 5, unit: 'kg' });
} catch (error) {
  console.log(error.code, error.details.available, error.details.unit);
}
`;
const useTypes = `
import { AppError, type DetailsOf, decideWriteOff, notice } from '@auth-account/errors';
import { toGrpc } from '@auth-account/errors/grpc';
export const details: DetailsOf<'ERR-EMAIL-ALREADY-EXISTS'> = { rejected_email: 'ann@example.org' };
export const { encoded } = toGrpc(new AppError('ERR-EMAIL-ALREADY-EXISTS', { details }), { locale: 'ru' });
const { notice: code } = decideWriteOff({ accountType: 'HOME', available: 1, requested: 2 });
export const shown = code && notice(code, { locale: 'ru' }).message;
// @ts-expect-error there are two types of groups
export const unknown = () => decideWriteOff({ accountType: 'FARM', available: 1, requested: 2 });
// @ts-expect-error a notice is not thrown
export const thrown = new AppError('INV_STOCK_MASKED_MINUS');
`;

describe('the packed library in an empty project', () => {
  let project: string;

  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), 'errors-install-'));
    const { stdout } = await run('npm', ['run', '--silent', 'pack', '--', project], { cwd: home });
    await writeFile(join(project, 'package.json'), '{ "type": "module", "private": true }');
    const install = ['install', '--silent', '--prefer-offline', '--no-audit', '--no-fund', stdout.trim()];
    await run('npm', install, { cwd: project });
  });

  afterAll(() => rm(project, { recursive: true }));

  async function outputOf(program: string): Promise<string> {
    await writeFile(join(project, 'program.js'), program);
    return (await run(process.execPath, ['program.js'], { cwd: project })).stdout.trim();
  }

  test('the packed library answers over gRPC', async () => {
    expect(await outputOf(useGrpc)).toBe('9 IAD_GROUP_ALREADY_MEMBER');
  });

  test('the packed library decides about stock by the type of the group', async () => {
    const [home, office] = (await outputOf(useWriteOff)).split('\n');
    expect(home).toBe('-3 0 SHOW_ZERO_STOCK');
    expect(office).toBe('INV_STOCK_INSUFFICIENT_OFFICE 2 kg');
  });

  test('the packed library brings its types', async () => {
    await writeFile(join(project, 'program.ts'), useTypes);
    const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2022', '--types', ''];
    await expect(run(tsc, [...options, 'program.ts'], { cwd: project })).resolves.toMatchObject({ stdout: '' });
  });

  test('the packed library holds no test and no TypeScript source', async () => {
    const { stdout } = await run('find', ['node_modules/@auth-account/errors', '-type', 'f'], { cwd: project });
    const files = stdout.trim().split('\n');
    expect(files).toContain('node_modules/@auth-account/errors/catalogue.json');
    expect(files.filter((file) => /\.(test|fixture)\.|(?<!\.d)\.ts$/.test(file))).toEqual([]);
  });

  test('the packed library answers over HTTP without the protobuf code', async () => {
    await rm(join(project, 'node_modules', '@bufbuild'), { recursive: true });
    expect(await outputOf(useHttp)).toBe('400');
    await expect(outputOf(useGrpc)).rejects.toThrow(/@bufbuild\/protobuf/);
  });
});
