import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { assertRefreshTokenKeys } from './refresh-token.ts';
import { type KeyFileWatch, type WatchKeyFileOptions, watchKeyFile } from './watch-key-file.ts';

const key = (kid: string, bytes = 32) => ({ kty: 'oct', kid, k: randomBytes(bytes).toString('base64url') });
const json = (...kids: string[]) => JSON.stringify({ keys: kids.map((kid) => key(kid)) });

let dir: string;
let path: string;
let errors: string[];
const watches: KeyFileWatch[] = [];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'key-file-'));
  path = join(dir, 'keys.json');
  errors = [];
});
afterEach(async () => {
  for (const watch of watches.splice(0)) watch.close();
  await rm(dir, { recursive: true });
});

async function watch(options: Partial<WatchKeyFileOptions> = {}): Promise<KeyFileWatch> {
  const onError = (error: unknown) => errors.push((error as Error).message);
  const made = await watchKeyFile(path, { check: assertRefreshTokenKeys, onError, rereadGapMs: 0, ...options });
  watches.push(made);
  return made;
}

const kidsOf = (source: KeyFileWatch) => source.current().keys.map(({ kid }) => kid);

/** Resolves when `onChange` is called. */
function change(): { readonly onChange: () => void; readonly happened: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { onChange: () => resolve(), happened: promise };
}

test('a changed file is read at the next look', async () => {
  await writeFile(path, json('a'));
  const { onChange, happened } = change();
  const source = await watch({ intervalMs: 5, onChange });
  const before = source.current();
  expect(kidsOf(source)).toEqual(['a']);
  await writeFile(`${path}.new`, json('b', 'a'));
  await rename(`${path}.new`, path);
  await happened;
  expect(kidsOf(source)).toEqual(['b', 'a']);
  expect(source.current()).not.toBe(before);
});

test('each look shows whether the content is refused, also of content that was reported before', async () => {
  await writeFile(path, json('a'));
  const looks: boolean[] = [];
  const source = await watch({ intervalMs: 60_000, onLook: (isRefused) => looks.push(isRefused) });
  const look = async (text: string) => {
    await writeFile(path, text);
    await source.reread();
  };
  for (const text of ['{', '{', json('b')]) await look(text);
  await rm(path);
  await source.reread();
  expect(looks).toEqual([false, true, true, false, true]);
  expect(errors).toHaveLength(2);
});

test('a swap of the symbolic link above the file, as Kubernetes makes it, is seen', async () => {
  for (const version of ['a', 'b']) {
    await mkdir(join(dir, `..${version}`));
    await writeFile(join(dir, `..${version}`, 'keys.json'), json(version));
  }
  await symlink('..a', join(dir, '..data'));
  await symlink(join('..data', 'keys.json'), path);
  const { onChange, happened } = change();
  const source = await watch({ intervalMs: 5, onChange });
  await symlink('..b', join(dir, '..data_tmp'));
  await rename(join(dir, '..data_tmp'), join(dir, '..data'));
  await happened;
  expect(kidsOf(source)).toEqual(['b']);
});

test('another content of the same length and time of change is seen', async () => {
  await writeFile(path, json('a'));
  const { atime, mtime } = await stat(path);
  const source = await watch();
  await writeFile(path, json('b'));
  await utimes(path, atime, mtime);
  await source.reread();
  expect(kidsOf(source)).toEqual(['b']);
});

test('a file that is touched but not changed keeps the same set object', async () => {
  const text = json('a');
  await writeFile(path, text);
  const source = await watch();
  const before = source.current();
  await writeFile(path, text);
  await source.reread();
  expect(source.current()).toBe(before);
});

describe('faults of a watched file', () => {
  // guarantees: faulty-key-file
  test.each([
    ['is half written', async () => writeFile(path, json('b').slice(0, 20)), 'not JSON'],
    ['is empty', async () => writeFile(path, ''), 'not JSON'],
    ['holds no key', async () => writeFile(path, '{"keys":[]}'), 'no key'],
    ['holds a key that is too short', async () => writeFile(path, JSON.stringify({ keys: [key('b', 8)] })), '256 bits'],
    ['is gone', async () => rm(path), 'ENOENT'],
  ])('the former keys stay, and the fault is reported once, while the file %s', async (_, spoil, message) => {
    const good = json('a');
    await writeFile(path, good);
    const source = await watch();
    const before = source.current();
    await spoil();
    for (let look = 0; look < 3; look += 1) await source.reread();
    expect(source.current()).toBe(before);
    expect(errors).toEqual([expect.stringContaining(message)]);
    await writeFile(path, good);
    await source.reread();
    expect(source.current()).toBe(before);
    await writeFile(path, json('c', 'a'));
    await source.reread();
    expect(kidsOf(source)).toEqual(['c', 'a']);
    expect(errors).toHaveLength(1);
  });
});

test('a wrong file at the start is an error', async () => {
  await writeFile(path, '{}');
  await expect(watch()).rejects.toThrow(`${path}: not a JWK set`);
  await writeFile(path, json('a'));
  const cause = new Error('not of the right kind');
  const check = () => Promise.reject(cause);
  await expect(watch({ check })).rejects.toMatchObject({ message: `${path}: not of the right kind`, cause });
  await expect(watchKeyFile(join(dir, 'none.json'), { onError: () => undefined })).rejects.toThrow('ENOENT');
});

test('looks on request are limited, and concurrent ones share one', async () => {
  await writeFile(path, json('a'));
  let checks = 0;
  const source = await watch({ check: () => (checks += 1), rereadGapMs: 3_600_000, intervalMs: 3_600_000 });
  await writeFile(path, json('b'));
  await Promise.all(Array.from({ length: 50 }, () => source.reread()));
  expect(kidsOf(source)).toEqual(['b']);
  await writeFile(path, json('c'));
  await source.reread();
  expect(kidsOf(source)).toEqual(['b']);
  expect(checks).toBe(2);
});

test('after its close a watcher takes no new keys', async () => {
  await writeFile(path, json('a'));
  const source = await watch();
  source.close();
  await writeFile(path, json('b'));
  await source.reread();
  expect(kidsOf(source)).toEqual(['a']);
});

test('a look that is under way at the close takes no new keys', async () => {
  await writeFile(path, json('a'));
  const checking = Promise.withResolvers<void>();
  const checked = Promise.withResolvers<void>();
  let checks = 0;
  const check = async () => {
    checks += 1;
    if (checks === 1) return;
    checking.resolve();
    await checked.promise;
  };
  const { onChange, happened } = change();
  const source = await watch({ check, onChange });
  await writeFile(path, json('b'));
  const looking = source.reread();
  await checking.promise;
  source.close();
  checked.resolve();
  await looking;
  expect(kidsOf(source)).toEqual(['a']);
  expect(await Promise.race([happened.then(() => 'reported'), Promise.resolve('nothing')])).toBe('nothing');
});

test('a faulty file is checked once, and not at each look', async () => {
  await writeFile(path, json('a'));
  let checks = 0;
  const check = () => {
    checks += 1;
    if (checks > 1) throw new Error('not of the right kind');
  };
  const source = await watch({ check });
  await writeFile(path, json('b'));
  for (let look = 0; look < 3; look += 1) await source.reread();
  expect([checks, errors]).toEqual([2, [`${path}: not of the right kind`]]);
});

test('a watcher without a check accepts any set of keys', async () => {
  await writeFile(path, json('a'));
  const source = await watchKeyFile(path, { onError: (error) => errors.push(String(error)), rereadGapMs: 0 });
  watches.push(source);
  await writeFile(path, json('b'));
  await source.reread();
  expect([kidsOf(source), errors]).toEqual([['b'], []]);
});

test('a listener is given each new set', async () => {
  await writeFile(path, json('a'));
  const given: unknown[] = [];
  const source = await watch({ onChange: (set) => given.push(set) });
  expect(given).toEqual([]);
  await writeFile(path, json('b'));
  await source.reread();
  await source.reread();
  expect(given).toEqual([source.current()]);
});

test('an unreadable file is reported once, and again after it was readable', async () => {
  const text = json('a');
  await writeFile(path, text);
  const source = await watch();
  for (let time = 0; time < 2; time += 1) {
    await rm(path);
    for (let look = 0; look < 2; look += 1) await source.reread();
    await writeFile(path, text);
    await source.reread();
  }
  expect(errors).toEqual([expect.stringContaining('ENOENT'), expect.stringContaining('ENOENT')]);
});

test('a look on request is repeated after the gap', async () => {
  await writeFile(path, json('a'));
  const rereadGapMs = 20;
  const source = await watch({ rereadGapMs });
  const asked = performance.now();
  await source.reread();
  await writeFile(path, json('b'));
  while (kidsOf(source)[0] !== 'b') await source.reread();
  expect(performance.now() - asked).toBeGreaterThanOrEqual(rereadGapMs);
});

describe('the timer of a watcher', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'performance', 'setTimeout'] });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  test('a watcher looks every ten seconds, and stops once it is closed', async () => {
    await writeFile(path, json('a'));
    const { onChange, happened } = change();
    const source = await watch({ onChange });
    await writeFile(path, json('b'));
    jest.advanceTimersByTime(9_999);
    expect(kidsOf(source)).toEqual(['a']);
    jest.advanceTimersByTime(1);
    await happened;
    expect(kidsOf(source)).toEqual(['b']);
    source.close();
    expect(jest.getTimerCount()).toBe(0);
  });
});

test('a watcher keeps no process alive', async () => {
  await writeFile(path, json('a'));
  const started = jest.spyOn(globalThis, 'setInterval');
  const intervalMs = 3_600_000;
  await watch({ intervalMs });
  const own = started.mock.results.filter((_, call) => started.mock.calls[call]?.[1] === intervalMs);
  started.mockRestore();
  expect(own.map(({ value }) => (value as NodeJS.Timeout).hasRef())).toEqual([false]);
});
