import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type AuditSampler, createAuditSampler } from './create-audit-sampler.ts';

type Line = Readonly<Record<string, unknown>>;

let lines: Line[];
let sampler: AuditSampler;
beforeEach(() => {
  jest.useFakeTimers();
  lines = [];
  sampler = createAuditSampler((fields) => lines.push(fields), { windowMs: 1_000, lines: 3, networks: 5 });
});
afterEach(() => {
  jest.useRealTimers();
});

let number = 0;
function send(times: number, { kind = 'refused', network }: { kind?: string; network?: string } = {}): void {
  for (let i = 0; i < times; i += 1) {
    number += 1;
    sampler.write({ kind, network, fields: { event: kind, number, address: network ?? `n${number}` } });
  }
}
const countOf = (some: readonly Line[]) => some.reduce((sum, { suppressed = 0 }) => sum + 1 + Number(suppressed), 0);

describe('events of one kind and network', () => {
  test('the first events of a kind and network are written at once and unchanged', () => {
    send(3, { network: 'a' });
    expect(lines.map(({ suppressed }) => suppressed)).toEqual([undefined, undefined, undefined]);
  });

  test('later events of a window are one line at its end: the newest, with the number of those left out', () => {
    send(100, { network: 'a' });
    expect(lines).toHaveLength(3);
    jest.advanceTimersByTime(999);
    expect(lines).toHaveLength(3);
    jest.advanceTimersByTime(1);
    expect(lines.slice(3)).toEqual([{ event: 'refused', number, address: 'a', suppressed: 96 }]);
    expect(countOf(lines)).toBe(100);
  });

  test('an event that is held back alone counts only itself', () => {
    send(4, { network: 'a' });
    sampler.flush();
    expect(lines.at(-1)).toEqual({ event: 'refused', number, address: 'a' });
  });

  test('a new window begins with the next event', () => {
    send(10, { network: 'a' });
    jest.advanceTimersByTime(5_000);
    expect(lines).toHaveLength(4);
    send(3, { network: 'a' });
    expect(lines).toHaveLength(7);
    jest.advanceTimersByTime(5_000);
    expect(lines).toHaveLength(7);
    expect(jest.getTimerCount()).toBe(0);
  });
});

test('kinds and networks are counted apart', () => {
  send(5, { network: 'a' });
  send(5, { network: 'b' });
  send(5, { kind: 'limited', network: 'a' });
  sampler.flush();
  const summaries = lines.filter(({ suppressed }) => suppressed !== undefined);
  expect(summaries.map(({ event, address, suppressed }) => [event, address, suppressed])).toEqual([
    ['refused', 'a', 1],
    ['refused', 'b', 1],
    ['limited', 'a', 1],
  ]);
});

test('a kind without networks is counted as a whole, and its summary names none', () => {
  send(10);
  sampler.flush();
  expect(lines.at(-1)).toMatchObject({ address: 'various', suppressed: 6 });
});

// guarantees: refusal-flood-sampled
test('networks past the limit share one line, so that a flood from everywhere writes bounded lines', () => {
  for (let network = 0; network < 10_000; network += 1) send(2, { network: `n${network}` });
  sampler.flush();
  expect(countOf(lines)).toBe(20_000);
  expect(lines).toHaveLength(5 * 2 + 3 + 1);
  expect(lines.at(-1)).toMatchObject({ event: 'refused', address: 'various' });
});

test('each kind has its own lines past the limit, so that a flood of one kind hides no other', () => {
  for (let network = 0; network < 100; network += 1) send(2, { network: `n${network}` });
  lines.length = 0;
  send(1, { kind: 'limited', network: 'z' });
  expect(lines).toEqual([{ event: 'limited', number, address: 'z' }]);
});

test('a flush writes the events that are held back, once', () => {
  send(10, { network: 'a' });
  sampler.flush();
  sampler.flush();
  expect(countOf(lines)).toBe(10);
  expect(jest.getTimerCount()).toBe(0);
});
