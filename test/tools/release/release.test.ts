import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { currentVersion, releasePaths, versionProblems } from './versions.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const program = join(root, 'test/tools/release/release.ts');
const original = temporaryFolder('release');
let copy: string;

const gitIn = (cwd: string, ...args: string[]) => execFileSync('git', args, { cwd, encoding: 'utf8' });
const git = (...args: string[]) => gitIn(copy, ...args);
const read = (path: string) => readFileSync(join(copy, path), 'utf8');
const run = (...args: string[]) =>
  spawnSync(process.execPath, [program, ...args, '--root', copy], { encoding: 'utf8' });
const npmLs = () => spawnSync('npm', ['ls', '--package-lock-only', '--all'], { cwd: copy, encoding: 'utf8' }).status;

/** Creates a repository with the files that a release changes. Each test gets a copy of it. */
beforeAll(() => {
  for (const path of releasePaths(root)) cpSync(join(root, path), join(original, path));
  writeFileSync(join(original, 'CHANGELOG.md'), '# Changelog\n\n## [Unreleased]\n\n- Something new\n');
  gitIn(original, 'init', '--quiet');
  gitIn(original, 'add', '--all');
  gitIn(original, '-c', 'user.name=test', '-c', 'user.email=test@localhost', 'commit', '--quiet', '-m', 'before');
});
beforeEach(() => {
  copy = mkdtempSync(join(tmpdir(), 'release-'));
  cpSync(original, copy, { recursive: true });
});

afterEach(() => rmSync(copy, { recursive: true, force: true }));

test('all versions of this checkout agree', () => {
  expect(versionProblems(root)).toEqual([]);
});

describe('releases', () => {
  test('a release sets one version everywhere, which npm finds consistent, and dates the changelog', () => {
    expect(run('99.1.0')).toMatchObject({ status: 0 });
    expect(currentVersion(copy)).toBe('99.1.0');
    expect(versionProblems(copy)).toEqual([]);
    expect(npmLs()).toBe(0);
    expect(read('CHANGELOG.md')).toMatch(/## \[Unreleased\]\n\n## \[99\.1\.0\] - \d{4}-\d\d-\d\d\n\n\S/);
    expect(read('charts/auth-account/Chart.yaml')).toContain('\nappVersion: 99.1.0\n');
  });

  test('a release changes no line but those with a version or the heading of the changelog', () => {
    run('99.1.0');
    const removed = git('diff', '--unified=0').match(/^-(?!--).*$/gm) ?? [];
    expect(removed.length).toBeGreaterThan(50);
    expect(removed.filter((line) => !line.includes(currentVersion(root)))).toEqual([]);
  });

  test('a dry run lists the release, and writes nothing', () => {
    const { status, stdout } = run('99.1.0', '--dry-run');
    expect({ status, isListed: stdout.includes('would change package-lock.json') }).toEqual({
      status: 0,
      isListed: true,
    });
    expect(git('status', '--porcelain')).toBe('');
  });

  test.each(['0.0.9', '1.0', 'v1.0.0', '1.0.0-rc.1'])(
    'a release as %s is refused, and nothing is written',
    (version) => {
      expect(run(version)).toMatchObject({ status: 1, stdout: '' });
      expect(git('status', '--porcelain')).toBe('');
    },
  );

  test('a release is refused with changes in the work tree', () => {
    writeFileSync(join(copy, 'note.txt'), '');
    expect(run('99.1.0')).toMatchObject({ status: 1, stderr: expect.stringContaining('note.txt') });
  });

  test('a release is refused a second time: the changelog has nothing new', () => {
    run('99.1.0');
    git('-c', 'user.name=test', '-c', 'user.email=test@localhost', 'commit', '--quiet', '-am', 'release');
    expect(run('99.1.0')).toMatchObject({ status: 1, stderr: expect.stringContaining('not higher') });
    expect(run('99.2.0')).toMatchObject({ status: 1, stderr: expect.stringContaining('CHANGELOG.md') });
  });
});

describe('versions that do not agree', () => {
  test.each([
    ['services/api/package.json', '"@auth-account/config": "'],
    ['libs/redis/package.json', '"version": "'],
    ['package-lock.json', '"@auth-account/tokens": "'],
    ['charts/auth-account/Chart.yaml', '\nappVersion: '],
  ])('versions that do not agree are found in %s', (path, before) => {
    const version = currentVersion(copy);
    writeFileSync(join(copy, path), read(path).replace(before + version, `${before}99.9.9`));
    expect(versionProblems(copy)).toEqual([expect.stringContaining(path)]);
  });
});
