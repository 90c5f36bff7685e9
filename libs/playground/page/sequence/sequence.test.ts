import { expect, test } from '@jest/globals';
import type { Step } from '../../src/live/step.ts';
import type { Traffic } from '../phone/traffic.ts';
import { endReasonIn, type Sequence, withSteps, withTraffic } from './sequence.ts';

const sent = (requestId: string, at: number): Traffic => ({
  ...{ type: 'sent', owner: 'ben', requestId, at },
  ...{ method: 'POST', path: '/api/v1/auth/refresh', headers: {}, body: undefined },
});
const answered = (type: 'answered' | 'lost', status: number, body?: unknown): Traffic => ({
  ...{ type, owner: 'ben', requestId: 'r1', at: 11, status, body },
});
const stepOf = (requestId: string, at: number, rest: Pick<Step, 'from' | 'to' | 'deed'>): Step => ({
  ...{ id: `${requestId}-${rest.deed.kind}-${at}`, at, durationMs: 1 },
  ...rest,
});
const request = (id: string, at: number) =>
  stepOf(id, at, { from: 'phone', to: 'api', deed: { kind: 'request', method: 'POST', route: '/r' } });
const answer = (id: string, at: number) =>
  stepOf(id, at, { from: 'api', to: 'phone', deed: { kind: 'answer', status: 200 } });
const hints = (id: string, at: number) =>
  stepOf(id, at, { from: 'api', to: 'redis', deed: { kind: 'hints', count: 1 } });

const of = (requestId: string, ...steps: Step[]) => ({ requestId, steps });

const shapeOf = (sequence: Sequence) =>
  sequence.map(({ owner, arrows }) => [owner, ...arrows.map(({ from, to, saying }) => `${from}>${to} ${saying.kind}`)]);

test('a phone’s request is drawn at once, and what the services report joins it in the order of time', () => {
  const first = withTraffic([], sent('r1', 10));
  expect(shapeOf(first)).toEqual([['ben', 'ben>api request']]);
  const later = withSteps(first, of('r1', request('r1', 11), hints('r1', 12), answer('r1', 15)));
  expect(shapeOf(later)).toEqual([['ben', 'ben>api request', 'api>redis hints', 'api>ben answer']]);
});

test('a report replaces the previous one, and keeps what the phone saw', () => {
  const early = withSteps(withTraffic([], sent('r1', 10)), of('r1', request('r1', 11), hints('r1', 13)));
  const later = withSteps(early, of('r1', request('r1', 11), hints('r1', 12), answer('r1', 15)));
  expect(shapeOf(later)).toEqual([['ben', 'ben>api request', 'api>redis hints', 'api>ben answer']]);
});

test('a lost answer is drawn as lost, after all that the service did, and not as an answer', () => {
  const lost = withTraffic(withTraffic([], sent('r1', 10)), answered('lost', 200));
  const reported = withSteps(lost, of('r1', request('r1', 10), hints('r1', 12), answer('r1', 15)));
  expect(shapeOf(reported)).toEqual([['ben', 'ben>api request', 'api>redis hints', 'api>ben lost']]);
});

test('a 401 is expected if it answers the refresh by which an app asks how its session has ended', () => {
  const reasonAfter = (status: number, body: unknown) =>
    [sent('r1', 10), answered('answered', status, body)].reduce(withTraffic, [] as Sequence).map(endReasonIn);
  expect(reasonAfter(401, { details: { reason: 'revoked' } })).toEqual(['revoked']);
  expect(reasonAfter(401, { details: {} })).toEqual([undefined]);
  expect(reasonAfter(200, { details: { reason: 'revoked' } })).toEqual([undefined]);
  const logIn = { ...sent('r1', 10), path: '/api/v1/auth/login' } as Traffic;
  const refused = [logIn, answered('answered', 401, { details: { reason: 'revoked' } })];
  expect(refused.reduce(withTraffic, [] as Sequence).map(endReasonIn)).toEqual([undefined]);
});

test('a request of someone without a phone here is shown with its answer, and ends at the api', () => {
  const theft = answered('answered', 401, { details: { reason: 'reused' } });
  const foreign = [sent('r1', 10), theft].map((traffic) => ({ ...traffic, owner: undefined }));
  const sequence = (foreign as Traffic[]).reduce(withTraffic, [] as Sequence);
  expect(shapeOf(sequence)).toEqual([[undefined, 'api>api request']]);
  expect(sequence).toMatchObject([{ sent: { path: '/api/v1/auth/refresh' }, answered: { status: 401 } }]);
  expect(sequence.map(endReasonIn)).toEqual([undefined]);
});

test('the request of a terminal belongs to neither phone, and ends at the api', () => {
  expect(shapeOf(withSteps([], of('curl', request('curl', 1), answer('curl', 2))))).toEqual([
    [undefined, 'api>api request', 'api>api answer'],
  ]);
});

test('consecutive lines of a stream are one chapter, until something else happens', () => {
  const opened: Traffic = { type: 'stream_opened', owner: 'ben', at: 1 };
  const frameOf = (frame: string, at: number, isFromPhone: boolean): Traffic => ({
    ...{ type: 'frame', owner: 'ben', at, frame, isFromPhone, isLost: false, content: { type: frame } },
  });
  const hello = frameOf('hello', 2, false);
  const auth = frameOf('auth', 4, true);
  const closed: Traffic = { type: 'stream_closed', owner: 'ben', at: 5, code: 1_000, reason: 'LOGOUT_CONFIRMED' };
  const all = [opened, hello, sent('r1', 3), auth, closed].reduce(withTraffic, [] as Sequence);
  expect(shapeOf(all)).toEqual([
    ['ben', 'ben>gateway stream_opened', 'gateway>ben frame'],
    ['ben', 'ben>api request'],
    ['ben', 'ben>gateway frame', 'gateway>ben stream_closed'],
  ]);
});

test('the oldest chapters are forgotten', () => {
  let sequence: Sequence = [];
  for (let n = 0; n < 70; n += 1) sequence = withTraffic(sequence, sent(`r${n}`, n));
  expect(sequence).toHaveLength(60);
  expect(sequence[0]?.requestId).toBe('r10');
});
