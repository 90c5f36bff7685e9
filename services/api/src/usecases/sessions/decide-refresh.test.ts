import { describe, expect, test } from '@jest/globals';
import { decideRefresh } from './decide-refresh.ts';

const now = new Date('2026-11-20T12:00:00.000Z');
const windowMs = 30_000;
const ago = (ms: number) => new Date(now.getTime() - ms);
const decide = (gen: number, parent: number, floor: number, presented: number, handedOutMsAgo = 0) =>
  decideRefresh({ gen, parent, floor, handed_out_at: ago(handedOutMsAgo) }, presented, now, windowMs);

describe('refreshes with a child of the parent', () => {
  test('a child of the parent is accepted: it becomes the parent, and its siblings are revoked', () => {
    expect(decide(3, 0, 0, 2)).toEqual({ kind: 'advance', next: { gen: 4, parent: 2, floor: 3 } });
  });

  test('a child of the parent is accepted however long ago it was issued', () => {
    expect(decide(1, 0, 0, 1, 86_400_000)).toEqual({ kind: 'advance', next: { gen: 2, parent: 1, floor: 1 } });
  });
});

describe('refreshes with the parent', () => {
  test('the parent within the window gets the newest child again', () => {
    expect(decide(2, 1, 1, 1, windowMs)).toEqual({ kind: 'repeat' });
  });

  test('the parent after the window gets one more child, and the older ones stay valid', () => {
    expect(decide(2, 1, 1, 1, windowMs + 1)).toEqual({ kind: 'advance', next: { gen: 3, parent: 1, floor: 1 } });
  });
});

describe('reused refresh tokens', () => {
  test.each([
    ['a token before the parent', 5, 4, 4, 3],
    ['the first one, long after', 9, 8, 8, 1],
    ['a sibling of the one that was taken', 5, 2, 4, 3],
    ['an elder sibling of the one that was taken', 5, 3, 4, 2],
    ['the newest sibling of the one that was taken', 5, 2, 4, 4],
  ])('a refresh token is reused: %s', (_, gen, parent, floor, presented) => {
    expect(decide(gen, parent, floor, presented)).toEqual({ kind: 'reuse' });
    expect(decide(gen, parent, floor, presented, 86_400_000)).toEqual({ kind: 'reuse' });
  });
});

test('a generation higher than any issued is adopted: the store was restored from a backup', () => {
  expect(decide(4, 3, 3, 9)).toEqual({ kind: 'advance', next: { gen: 10, parent: 9, floor: 9 } });
});
