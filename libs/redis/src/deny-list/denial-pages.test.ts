import { beforeEach, expect, test } from '@jest/globals';
import { createDenialPages, type DenialCursor, type Denied } from './denial-pages.ts';
import type { DenyListReader } from './deny-list-reader.ts';

/** Session → time at which it was denied. */
let times: Map<string, number>;
let server: string;
let clock: number;
/** Values of the deny list for sessions that are not revoked. */
const values: Readonly<Record<string, string | null>> = { moved: '7', gone: null };
/** Largest number of ids in one request. */
let most: number;

const reader: Pick<DenyListReader, 'page' | 'find'> = {
  async page(since, limit) {
    const found = [...times].filter(([, at]) => at >= since).map(([sessionId, at]) => ({ sessionId, at }));
    found.sort((a, b) => a.at - b.at || (a.sessionId < b.sessionId ? -1 : 1));
    return { denials: found.slice(0, limit), until: clock, server };
  },
  async find(ids) {
    most = Math.max(most, ids.length);
    return ids.map((id) => (id in values ? (values[id] ?? null) : 'none:SESSION_REVOKED'));
  },
};

const read = createDenialPages(reader as DenyListReader, 3);

beforeEach(() => {
  [times, server, clock, most] = [new Map(), 'one', 100_000, 0];
});

/** Reads all pages. */
async function readAll(from?: DenialCursor) {
  const denied: Denied[] = [];
  let cursor = from;
  for (let pages = 1; ; pages += 1) {
    const page = await read(cursor);
    if (page === undefined) throw new Error('the list is not complete');
    denied.push(...page.denied);
    cursor = page.cursor;
    if (!page.hasMore) return { ids: [...new Set(denied.map(({ sessionId }) => sessionId))].sort(), cursor, pages };
  }
}

test('a session is revoked or denied below a version, and left out once its entry has gone', async () => {
  times = new Map([
    ['a', 1],
    ['moved', 2],
    ['gone', 3],
  ]);
  const { denied } = (await read(undefined)) ?? {};
  expect(denied).toEqual([
    { sessionId: 'a', below: Number.POSITIVE_INFINITY },
    { sessionId: 'moved', below: 7 },
  ]);
});

test('pages leave nothing out, even if more were denied in one moment than fit', async () => {
  const ids = Array.from({ length: 5_000 }, (_, i) => `s${i}`);
  const moment = (i: number) => (i < 4_990 ? Math.min(i, 10) : i);
  times = new Map(ids.map((id, i) => [id, moment(i)]));
  const { ids: found, pages } = await readAll();
  expect(found).toEqual([...ids].sort());
  expect(pages).toBeGreaterThan(2);
  expect(most).toBeLessThanOrEqual(1_000);
});

test('a denial that is repeated while the list is read stays in it', async () => {
  times = new Map(Array.from({ length: 9 }, (_, i) => [`s${i}`, 10]));
  times.set('later', 20);
  const first = await read(undefined);
  times.set('s0', 30);
  const { ids } = await readAll(first?.cursor);
  const all = new Set([...ids, ...(first?.denied ?? []).map(({ sessionId }) => sessionId)]);
  expect(all.size).toBe(10);
});

test('after the end only new denials are read, with the last second once more', async () => {
  times = new Map([
    ['old', clock - 1_001],
    ['recent', clock - 1_000],
  ]);
  const { cursor } = await readAll();
  times.set('new', clock + 1);
  clock += 10;
  expect((await readAll(cursor)).ids).toEqual(['new', 'recent']);
});

test.each<[string, () => void]>([
  [
    'another server has completed the list',
    () => {
      server = 'two';
    },
  ],
  [
    'the clock of the server was set back',
    () => {
      clock -= 5_000;
    },
  ],
])('the whole list is read again if %s', async (_what, happen) => {
  times = new Map([['old', 1]]);
  const { cursor } = await readAll();
  expect((await readAll(cursor)).ids).toEqual([]);
  happen();
  const again = await readAll(cursor);
  expect(again.ids).toEqual(['old']);
  expect((await readAll(again.cursor)).ids).toEqual([]);
});

test('an incomplete list gives no answer, even if it becomes incomplete in the middle of a page', async () => {
  times = new Map([['a', 1]]);
  const never = async () => undefined;
  for (const incomplete of [{ page: never }, { find: never }]) {
    const pages = createDenialPages({ ...reader, ...incomplete } as unknown as DenyListReader, 3);
    expect(await pages(undefined)).toBeUndefined();
  }
});
