import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createRevocationList, type RevocationList } from './revocation-list.ts';
import type { Denied, RevocationSource } from './revocation-source.ts';

const keepSeconds = 100;
/** Failures for longer than a test lasts. */
const away = Array<Error>(100_000).fill(new Error('away'));
/** Content of the next answers. An error is thrown. */
let next: (readonly Denied[] | Error)[];
let cursors: unknown[];
let passed: number;
let changes: boolean[];
let list: RevocationList;

const source: RevocationSource = {
  async read(cursor) {
    cursors.push(cursor);
    const denied = next.shift() ?? [];
    if (denied instanceof Error) throw denied;
    return { denied, cursor: cursors.length, hasMore: next[0] !== undefined && !(next[0] instanceof Error) };
  },
  close: () => undefined,
};

beforeEach(() => {
  [next, cursors, changes, passed] = [[], [], [], 0];
});
afterEach(() => list.close());

async function open(graceSeconds = 10): Promise<void> {
  list = createRevocationList({
    source,
    graceSeconds,
    keepSeconds: () => keepSeconds,
    pollMs: 1,
    onChange: (isAnswering) => changes.push(isAnswering),
    elapsed: () => passed,
  });
  await list.started;
}

/** Waits until the source was asked `count` more times. */
async function polls(count = 2): Promise<void> {
  const enough = cursors.length + count;
  const deadline = performance.now() + 60_000;
  while (cursors.length < enough) {
    if (performance.now() > deadline) throw new Error('the source was not asked within 60 s');
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

test('the revocation list denies versions below the smallest valid one, which never decreases', async () => {
  next = [[{ sessionId: 'a', below: 3 }], [{ sessionId: 'a', below: 2 }]];
  await open();
  expect([2, 3].map((ver) => list.isDenied('a', ver))).toEqual([true, false]);
  expect(list.isDenied('b', 0)).toBe(false);
});

test('the revocation list forgets a denial only when no earlier token can still be valid', async () => {
  next = [[{ sessionId: 'a', below: Number.POSITIVE_INFINITY }]];
  await open(1_000);
  for (let seconds = 0; seconds < keepSeconds; seconds += 20) {
    expect(list.isDenied('a', 1)).toBe(true);
    passed += 20_000;
    await polls();
  }
  expect(list.isDenied('a', 1)).toBe(true);
  passed += keepSeconds * 1_000;
  await polls();
  expect(list.isDenied('a', 1)).toBe(false);
  expect(list.size()).toBe(0);
});

test('the revocation list continues from its cursor after a failure, and keeps its copy', async () => {
  next = [[{ sessionId: 'a', below: 9 }], new Error('away')];
  await open();
  await polls(3);
  expect(cursors.slice(0, 3)).toEqual([undefined, 1, 1]);
  expect(list.isDenied('a', 1)).toBe(true);
  expect(changes).toEqual([false, true]);
});

test('the revocation list is unknown once its copy is older than a second and the grace', async () => {
  next = [[], ...away];
  await open(10);
  await polls();
  passed = 11_000;
  expect(list.isDenied('a', 1)).toBe(false);
  passed = 11_001;
  expect(() => list.isDenied('a', 1)).toThrow('ERR-DEPENDENCY-UNAVAILABLE');
});

test('the revocation list is unknown before its first answer, however long the grace', async () => {
  next = [...away];
  await open(Number.POSITIVE_INFINITY);
  expect(() => list.isDenied('a', 1)).toThrow('ERR-DEPENDENCY-UNAVAILABLE');
});
