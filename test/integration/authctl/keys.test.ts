import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { assertAccessTokenKeys, assertRefreshTokenKeys, loadKeyFile } from '@auth-account/tokens';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { authctl, authctlJson, authctlProcess } from '../../support/processes/authctl.ts';

let dir: string;
let env: Record<string, string>;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'auth-account-authctl-'));
  env = {
    ACCESS_TOKEN_KEYS_FILE: join(dir, 'access.json'),
    REFRESH_TOKEN_KEYS_FILE: join(dir, 'refresh.json'),
    SERVER_KEYS_FILE: join(dir, 'server.json'),
  };
});
afterEach(() => rm(dir, { recursive: true }));

const path = (kind: 'access' | 'refresh' | 'server') => join(dir, `${kind}.json`);
const statuses = (shown: { keys: { standing: string }[] }) => shown.keys.map(({ standing }) => standing);
const minute = 60_000;

/** Returns the members of a JWK that create signatures or MACs. */
async function privateParts(file: string): Promise<string[]> {
  const { keys } = await loadKeyFile(file);
  return keys.flatMap(({ d, k }) => [d, k]).filter((part) => typeof part === 'string');
}

describe('keys generate', () => {
  test('keys generate writes files that the services take, which only their owner may read', async () => {
    for (const kind of ['access', 'refresh', 'server'] as const) {
      const shown = await authctlJson(['keys', 'generate', kind], { env });
      expect(shown).toMatchObject({ kind, file: path(kind), keys: [{ standing: 'first' }] });
      expect((await stat(path(kind))).mode & 0o777).toBe(0o600);
    }
    assertAccessTokenKeys(await loadKeyFile(path('access')), 'sign');
    assertRefreshTokenKeys(await loadKeyFile(path('refresh')));
    assertRefreshTokenKeys(await loadKeyFile(path('server')));
  });

  test.each<[string, string[], Record<string, string>]>([
    ['ES256', [], {}],
    ['EdDSA', [], { ACCESS_TOKEN_ALGORITHM: 'EdDSA' }],
    ['EdDSA', ['--algorithm', 'EdDSA'], { ACCESS_TOKEN_ALGORITHM: 'ES256' }],
  ])('keys generate makes a key of %s with the options [%s] and the settings %j', async (alg, options, settings) => {
    const file = join(dir, 'other.json');
    await authctlJson(['keys', 'generate', 'access', ...options, '--file', file], { env: settings });
    const set = await loadKeyFile(file);
    assertAccessTokenKeys(set, 'sign');
    expect(set.keys[0].alg).toBe(alg);
  });

  test('keys generate never writes over a file', async () => {
    await writeFile(path('access'), 'what was there');
    const run = await authctl(['keys', 'generate', 'access'], { env });
    expect(run).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('is there already') });
    expect(await readFile(path('access'), 'utf8')).toBe('what was there');
  });

  test('keys generate needs a file: exit code 78 names the variable', async () => {
    const run = await authctl(['keys', 'generate', 'access'], { env: {} });
    expect(run).toMatchObject({ exitCode: 78, stderr: expect.stringContaining('ACCESS_TOKEN_KEYS_FILE') });
  });
});

test('keys public gives what verifies tokens, and nothing that signs them', async () => {
  await authctlJson(['keys', 'generate', 'access'], { env });
  await authctlJson(['keys', 'rotate', 'access'], { env });
  const { stdout } = await authctl(['keys', 'public'], { env });
  for (const part of await privateParts(path('access'))) expect(stdout).not.toContain(part);
  await writeFile(join(dir, 'public.json'), stdout);
  const shown = await loadKeyFile(join(dir, 'public.json'));
  expect(shown.keys.map(({ kid }) => kid)).toEqual((await loadKeyFile(path('access'))).keys.map(({ kid }) => kid));
  assertAccessTokenKeys(shown, 'verify');
  expect(await authctlJson(['keys', 'public'], { env })).toEqual(JSON.parse(stdout));
});

describe('keys rotate', () => {
  const rotate = (step: string[], now: number) =>
    authctlJson(['keys', 'rotate', 'access', ...step], { env, now: () => new Date(now) });

  // guarantees: authctl-keys-not-early
  test('keys rotate publishes a key, activates it after five minutes, and prunes the old one when no token needs it', async () => {
    const { keys } = await authctlJson(['keys', 'generate', 'access', '--algorithm', 'EdDSA'], { env });
    const begun = Date.now();
    const published = await rotate([], begun);
    expect(statuses(published)).toEqual(['first', 'next']);
    expect(published.keys.map(({ type }: { type: string }) => type)).toEqual(['OKP Ed25519', 'EC P-256']);
    expect(published.keys[0].kid).toBe(keys[0].kid);

    const early = await authctl(['keys', 'rotate', 'access', '--activate'], {
      env,
      now: () => new Date(begun + minute),
    });
    expect(early).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('wait 240 s more') });
    const activated = await rotate(['--activate'], begun + 5 * minute);
    expect(statuses(activated)).toEqual(['first', 'retired']);
    expect(activated.keys.map(({ kid }: { kid: string }) => kid)).toEqual([published.keys[1].kid, keys[0].kid]);

    expect(await rotate(['--prune'], begun + 15 * minute)).toMatchObject({ removed: [] });
    expect(await rotate(['--prune'], begun + 25 * minute)).toMatchObject({ removed: [keys[0].kid] });
    const set = await loadKeyFile(path('access'));
    assertAccessTokenKeys(set, 'sign');
    expect(set.keys.map(({ kid }) => kid)).toEqual([published.keys[1].kid]);
    expect((await stat(path('access'))).mode & 0o777).toBe(0o600);
  });

  // guarantees: authctl-keys-not-early
  test('keys rotate keeps a refresh key for 180 days after it was retired', async () => {
    await authctlJson(['keys', 'generate', 'refresh'], { env });
    const begun = Date.now();
    const at = (days: number) => ({ env, now: () => new Date(begun + days * 24 * 60 * minute) });
    await authctlJson(['keys', 'rotate', 'refresh'], at(0));
    await authctlJson(['keys', 'rotate', 'refresh', '--activate', '--now'], at(0));
    expect(await authctlJson(['keys', 'rotate', 'refresh', '--prune'], at(179))).toMatchObject({ removed: [] });
    const pruned = await authctlJson(['keys', 'rotate', 'refresh', '--prune'], at(181));
    expect(pruned.removed).toHaveLength(1);
    assertRefreshTokenKeys(await loadKeyFile(path('refresh')));
  });

  test.each([
    [['--activate'], 'No key was published'],
    [['--activate', '--prune'], 'cannot be used with'],
  ])('keys rotate refuses %j of a file with one key', async (step, why) => {
    await authctlJson(['keys', 'generate', 'access'], { env });
    const run = await authctl(['keys', 'rotate', 'access', ...step], { env });
    expect(run).toMatchObject({ stdout: '', stderr: expect.stringContaining(why) });
    expect(run.exitCode).not.toBe(0);
  });

  test('keys rotate publishes one key at a time', async () => {
    await authctlJson(['keys', 'generate', 'access'], { env });
    await rotate([], Date.now());
    const again = await authctl(['keys', 'rotate', 'access'], { env });
    expect(again).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('published already') });
    expect((await loadKeyFile(path('access'))).keys).toHaveLength(2);
  });
});

describe('the public file, for the push gateway', () => {
  const open = () => join(dir, 'public.json');
  const run = (args: string[], now = Date.now()) =>
    authctlJson(['keys', ...args, '--public-file', open()], { env, now: () => new Date(now) });
  const kidsIn = async (file: string) => (await loadKeyFile(file)).keys.map(({ kid }) => kid);

  // guarantees: no-private-part-shown
  test('the public file is written with the private one at each step, and has no private part', async () => {
    const begun = Date.now();
    const steps: [step: string[], at: number, kids: number][] = [
      [['generate', 'access'], begun, 1],
      [['rotate', 'access'], begun, 2],
      [['rotate', 'access', '--activate'], begun + 5 * minute, 2],
      [['rotate', 'access', '--prune'], begun + 15 * minute, 2],
      [['rotate', 'access', '--prune'], begun + 25 * minute, 1],
    ];
    for (const [step, at, count] of steps) {
      expect(await run(step, at)).toMatchObject({ file: path('access'), public_file: open() });
      expect(await kidsIn(open())).toEqual(await kidsIn(path('access')));
      expect(await kidsIn(open())).toHaveLength(count);
      assertAccessTokenKeys(await loadKeyFile(open()), 'verify');
      expect(await privateParts(open())).toEqual([]);
    }
  });

  test('the public file is written first: a key that the gateways cannot know never gets among those that sign', async () => {
    await authctlJson(['keys', 'generate', 'access'], { env });
    const before = await readFile(path('access'), 'utf8');
    await mkdir(open());
    const failed = await authctl(['keys', 'rotate', 'access', '--public-file', open()], { env });
    expect(failed).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining(open()) });
    expect(await readFile(path('access'), 'utf8')).toBe(before);
  });

  test('the public file is one of its own: the private file is never written over', async () => {
    await authctlJson(['keys', 'generate', 'access'], { env });
    const before = await readFile(path('access'), 'utf8');
    await symlink(path('access'), open());
    for (const file of [path('access'), join(dir, '.', '..', basename(dir), 'access.json'), open()]) {
      const run = await authctl(['keys', 'rotate', 'access', '--public-file', file], { env });
      expect(run).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining('--public-file') });
    }
    expect(await readFile(path('access'), 'utf8')).toBe(before);
  });

  test('the public file is of access keys alone: the others have no public half', async () => {
    for (const step of [['generate'], ['rotate']]) {
      const run = await authctl(['keys', ...step, 'refresh', '--public-file', open()], { env });
      expect(run).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--public-file is for access keys') });
    }
  });

  test('the public file is asked for if an access key changes without it', async () => {
    await authctl(['keys', 'generate', 'access'], { env });
    expect((await authctl(['keys', 'rotate', 'access'], { env })).stdout).toContain('authctl keys public');
    await authctl(['keys', 'generate', 'server'], { env });
    expect((await authctl(['keys', 'rotate', 'server'], { env })).stdout).not.toContain('authctl keys public');
  });
});

describe('the private parts of keys', () => {
  // guarantees: no-private-part-shown
  test('no private part is printed by keys generate, list and rotate, nor for a file that does not fit', async () => {
    const printed: string[] = [];
    const run = async (args: string[]) => {
      const { stdout, stderr } = await authctl(args, { env });
      printed.push(stdout, stderr);
    };
    for (const kind of ['access', 'refresh', 'server']) {
      for (const json of [[], ['--json']]) {
        await run(['keys', 'generate', kind, ...json]);
        await run(['keys', 'list', kind, ...json]);
        await run(['keys', 'rotate', kind, ...json]);
        await run(['keys', 'rotate', kind, '--activate', '--now', ...json]);
      }
    }
    await run(['keys', 'list', 'access', '--file', path('refresh')]);
    expect(printed.join('')).toContain('does not fit ES256');
    const secrets = (
      await Promise.all((['access', 'refresh', 'server'] as const).map((kind) => privateParts(path(kind))))
    ).flat();
    expect(secrets.length).toBeGreaterThanOrEqual(6);
    for (const secret of secrets) expect(printed.join('')).not.toContain(secret);
  });
});

describe('authctl as a process', () => {
  test('authctl as a process lists the keys that the environment names', async () => {
    await authctlJson(['keys', 'generate', 'access'], { env });
    const run = await authctlProcess(['keys', 'list'], { ACCESS_TOKEN_KEYS_FILE: path('access') });
    const { keys } = await loadKeyFile(path('access'));
    expect(run).toMatchObject({ exitCode: 0, stderr: '' });
    expect(run.stdout).toContain(`${keys[0].kid}  first     EC P-256`);
  });

  test('authctl as a process reports an error in one line, without a stack', async () => {
    await writeFile(path('access'), 'no JSON');
    const run = await authctlProcess(['keys', 'list', 'access'], env);
    expect(run).toEqual({ exitCode: 78, stdout: '', stderr: `authctl: ${path('access')}: not JSON\n` });
  });
});

test.each([
  ['an unknown command', ['evnts'], 'unknown command'],
  ['an unknown kind', ['keys', 'list', 'house'], 'Allowed choices are access, refresh, server'],
  ['a missing argument', ['keys', 'generate'], "missing required argument 'kind'"],
  ['an unknown option', ['keys', 'list', '--all'], "unknown option '--all'"],
])(
  'a command line with %s ends with exit code 2, and says why once, as JSON where that is asked for',
  async (_case, args, why) => {
    const run = await authctl(args);
    expect(run).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining(why) });
    expect(run.stderr.split(why)).toHaveLength(2);
    expect(await authctlJson(args, {}, 2)).toEqual({ error: { message: expect.stringContaining(why), exit_code: 2 } });
  },
);

test('help is no error, and the lack of a command is', async () => {
  expect(await authctl(['--help'])).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('doctor'),
    stderr: '',
  });
  expect(await authctl([])).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining('doctor') });
});

test('the version is the release, whatever else is asked', async () => {
  const { version } = JSON.parse(await readFile(new URL('../../../package.json', import.meta.url), 'utf8'));
  for (const args of [['--version'], ['--json', '--version'], ['evnts', '--version'], ['doctor', '--version']]) {
    expect(await authctl(args)).toEqual({ exitCode: 0, stdout: `${version}\n`, stderr: '' });
  }
});

test('each command lists its own help, with the options before and after its name', async () => {
  const { stdout } = await authctl(['--help']);
  const list = stdout.slice(stdout.indexOf('Commands:')).matchAll(/^ {2}([a-z]+)/gm);
  const names = Array.from(list, ([, name]) => String(name));
  expect(names).toEqual(['events', 'sessions', 'user', 'commands', 'trace', 'keys', 'doctor', 'probe']);
  for (const name of names) {
    const own = await authctl([name, '--help']);
    expect(own).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`authctl ${name}`), stderr: '' });
    expect(await authctl(['--json', name, '--help'])).toEqual(own);
  }
});
