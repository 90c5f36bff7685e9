import { execFile } from 'node:child_process';
import { lookup } from 'node:dns';
import { closeSync, constants, openSync, renameSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { nodePlatform } from '@auth-account/client/node';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { password } from '../../support/api/accounts.ts';
import {
  type ClientFixture,
  codeOf,
  noStream,
  openClientFixture,
  type TestApp,
} from '../../support/client/client-fixture.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';
import { mountSmallDisk } from '../../tools/faults/stack/small-disk.ts';

const run = promisify(execFile);
let fixture: ClientFixture;
let home: string;

beforeAll(async () => {
  fixture = await openClientFixture();
  home = await mkdtemp(join(tmpdir(), 'file-storage-'));
});
afterAll(async () => {
  await fixture.close();
  await rm(home, { recursive: true });
});

/** An app on Node whose user is signed in and has refreshed, and its directory. */
async function signedIn(directory?: string) {
  const dir = directory ?? (await mkdtemp(join(home, 'app-')));
  const { storage } = nodePlatform(dir);
  const app = await fixture.signedIn({ ...noStream, storage, storageTimeoutMs: 10_000 });
  await refresh(app);
  return { ...app, dir, again: () => app.restart({ storage: nodePlatform(dir).storage }) };
}

const refresh = (app: Pick<TestApp, 'clock' | 'client'>) => {
  app.clock.monotonic += 3_600_000;
  return app.client.account.find();
};

const pathOf = (dir: string, entry: string) => join(dir, `auth-account.${entry}.json`);
const slots = ['session.0', 'session.1'] as const;

async function newestSlot(dir: string): Promise<string> {
  const counts = await Promise.all(slots.map(async (slot) => JSON.parse(await readFile(pathOf(dir, slot), 'utf8')).n));
  return pathOf(dir, slots[counts[0] > counts[1] ? 0 : 1]);
}

/** The files of a directory that hold the text. */
async function holding(dir: string, text: string): Promise<string[]> {
  const files = (await readdir(dir, { withFileTypes: true })).filter((entry) => entry.isFile());
  const texts = await Promise.all(files.map(({ name }) => readFile(join(dir, name), 'utf8')));
  return files.flatMap(({ name }, at) => (texts[at]?.includes(text) ? [name] : []));
}

test('a session in files outlives a full disk, and a logout on it leaves no token', async () => {
  const dir = await mkdtemp(join(home, 'disk-'));
  const disk = await mountSmallDisk(dir, 2);
  if (!disk) return console.warn('skipped: only root on Linux can mount a small disk');
  try {
    const app = await signedIn(join(dir, 'app'));
    await disk.fill();
    for (const _time of [1, 2]) await refresh(app);
    expect(app.log).toContainEqual(expect.objectContaining({ event: 'storage_failed' }));
    expect((await readdir(app.dir)).filter((name) => name.endsWith('.new'))).toEqual([]);
    const restarted = app.again();
    expect((await refresh(restarted)).email).toBe(app.email);
    await disk.empty();
    await refresh(restarted);
    expect((await refresh(app.again())).email).toBe(app.email);
    await disk.fill();
    // A process that was killed has left this.
    await writeFile(`${pathOf(app.dir, slots[0])}.new`, '"refresh_token"').catch(() => undefined);
    await restarted.client.logOut();
    expect(await holding(app.dir, 'refresh_token')).toEqual([]);
    // The former app ends on the full disk, before it can write once more.
    const last = restarted.restart({ storage: nodePlatform(app.dir).storage });
    expect((await last.client.ready()).status).toBe('signed_out');
    await disk.empty();
    await last.client.logIn({ email: app.email, password });
    expect((await last.restart().client.ready()).status).toBe('signed_in');
  } finally {
    await disk.unmount();
  }
});

/** Faults of the files by which each read fails, and their ends. */
const faults: readonly (readonly [name: string, begin: (dir: string) => Promise<() => Promise<unknown>>])[] = [
  ['an input error (EIO)', (dir) => replaced(dir, (path) => symlink('/proc/self/mem', path))],
  ['links in a circle (ELOOP)', (dir) => replaced(dir, (path) => symlink(path, path))],
  ['directories in their place (EISDIR)', (dir) => replaced(dir, (path) => mkdir(path))],
  [
    'a file in place of their directory (ENOTDIR)',
    async (dir) => {
      await rename(dir, `${dir}.away`);
      await writeFile(dir, '');
      return () => rm(dir).then(() => rename(`${dir}.away`, dir));
    },
  ],
  [
    'no permission (EACCES)',
    async (dir) => {
      await run('chmod', ['000', dir]);
      return () => run('chmod', ['700', dir]);
    },
  ],
];

/** Puts something else in the place of the session's files. */
async function replaced(dir: string, put: (path: string) => Promise<unknown>): Promise<() => Promise<unknown>> {
  const paths = slots.map((slot) => pathOf(dir, slot));
  for (const path of paths) {
    await rename(path, `${path}.away`);
    await put(path);
  }
  return async () => {
    for (const path of paths) {
      await rm(path, { recursive: true });
      await rename(`${path}.away`, path);
    }
  };
}

test.each(faults)('an app whose files fail by %s is not signed out, and recovers', async (name, begin) => {
  if (name.includes('EACCES') && process.getuid?.() === 0) return console.warn('skipped: root may read everything');
  const app = await signedIn();
  const end = await begin(app.dir);
  expect(await codeOf(refresh(app))).toBe('none');
  const restarted = app.again();
  expect(await codeOf(restarted.client.ready())).toBe('CLIENT_STATE_UNKNOWN');
  expect(restarted.client.state()).toEqual({ status: 'unknown', isUnreadable: true });
  await end();
  await eventually('it has recovered', async () => restarted.client.state().status === 'signed_in');
  expect((await refresh(restarted)).email).toBe(app.email);
});

test.each(['half of it', 'nothing'])(
  'an app of whose newest file %s is left goes on by the one before',
  async (left) => {
    const app = await signedIn();
    const path = await newestSlot(app.dir);
    const { length } = await readFile(path);
    await truncate(path, left === 'nothing' ? 0 : Math.floor(length / 2));
    expect((await refresh(app.again())).email).toBe(app.email);
  },
);

test('an app whose files were all cut in half logs in again, as the same device', async () => {
  const app = await signedIn();
  for (const name of await readdir(app.dir)) {
    const { length } = await readFile(join(app.dir, name));
    await truncate(join(app.dir, name), Math.floor(length / 2));
  }
  const restarted = app.again();
  expect(await restarted.client.ready()).toMatchObject({ status: 'signed_out' });
  const { device_id } = await restarted.client.logIn({ email: app.email, password });
  expect(await readFile(pathOf(app.dir, 'device'), 'utf8')).toBe(device_id);
  expect((await refresh(app.again())).email).toBe(app.email);
});

test('a killed process leaves no token behind that outlives the logout', async () => {
  const app = await signedIn();
  for (const slot of slots) await writeFile(`${pathOf(app.dir, slot)}.new`, 'half a tok');
  await app.client.logOut();
  expect(await holding(app.dir, 'half a tok')).toEqual([]);
});

test('files that hang hold up neither the program nor, once they answer, the app', async () => {
  const app = await signedIn();
  const pipe = pathOf(app.dir, slots[0]);
  await rename(pipe, `${pipe}.away`);
  // A read of a pipe waits until somebody writes.
  await run('mkfifo', [pipe]);
  const restarted = app.again();
  try {
    for (const _time of [1, 2, 3, 4, 5]) {
      const ready = restarted.client.ready().finally(() => clearInterval(impatience));
      // The machine's pace decides when the read begins whose time-out is to elapse.
      const impatience = setInterval(restarted.giveUpWaiting, 1);
      expect(await codeOf(ready)).toBe('CLIENT_STATE_UNKNOWN');
    }
    // Node has four threads for files and host names.
    let isFound = false;
    lookup('localhost', () => {
      isFound = true;
    });
    await eventually('a host name is found', async () => isFound);
  } finally {
    // Without the threads, only synchronous calls work.
    renameSync(pipe, `${pipe}.hung`);
    renameSync(`${pipe}.away`, pipe);
    closeSync(openSync(`${pipe}.hung`, constants.O_WRONLY | constants.O_NONBLOCK));
  }
  await eventually('it has recovered', async () => {
    restarted.giveUpWaiting(); // for its next try
    return restarted.client.state().status === 'signed_in';
  });
  expect((await refresh(restarted)).email).toBe(app.email);
});
