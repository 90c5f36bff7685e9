import { expect, test } from '@jest/globals';
import { readOtlpSpans, type Span } from './otlp-spans.ts';
import { createStepReader } from './steps.ts';

const requestId = 'phone-1';

interface Given {
  readonly name: string;
  readonly at: number;
  readonly parentId?: string;
  readonly service?: string;
  readonly attributes?: Readonly<Record<string, unknown>>;
}

function spanOf({ name, at, parentId, service = 'auth-api', attributes = {} }: Given): Span {
  const own = { 'request.id': requestId, ...attributes };
  const ids = { traceId: 'the one trace', id: `span-of-${name}`, parentId };
  return { ...ids, service, name, at, durationMs: 2, hasFailed: false, attributes: own };
}

const rootOf = (method: string, status: number): Span =>
  spanOf({
    name: `${method} /api/v1/auth/register`,
    at: 0,
    attributes: {
      'http.request.method': method,
      'http.route': '/api/v1/auth/register',
      'url.path': '/api/v1/auth/register',
      'http.response.status_code': status,
    },
  });

const mongo = (name: string, at: number, parentId: string) =>
  spanOf({ name, at, parentId, attributes: { 'db.operation.name': name.split(' ')[0], 'db.collection.name': 'x' } });
const redis = (at: number) =>
  spanOf({ name: 'evalsha', at, parentId: 'handler', attributes: { 'db.operation.name': 'evalsha' } });

const inside = [
  redis(1),
  mongo('find users', 2, 'handler'),
  spanOf({ name: 'password.hash', at: 3, parentId: 'handler' }),
  mongo('insert users', 5, 'span-of-mongodb.transaction'),
  mongo('insert outbox', 6, 'span-of-mongodb.transaction'),
  mongo('commitTransaction $cmd', 7, 'span-of-mongodb.transaction'),
  spanOf({ name: 'mongodb.transaction', at: 4, parentId: 'handler' }),
  spanOf({ name: 'add deliver', at: 8, parentId: 'handler' }),
];

test('a request is told when its own span has ended: its steps in order, its transaction with its commands', () => {
  const read = createStepReader();
  expect(read(inside)).toEqual([]);
  expect(read([rootOf('POST', 201)]).map(({ from, to, deed }) => [from, to, deed])).toEqual([
    ['phone', 'api', { kind: 'request', method: 'POST', route: '/api/v1/auth/register' }],
    ['api', 'redis', { kind: 'hints', count: 1 }],
    ['api', 'mongodb', { kind: 'commands', commands: ['find users'] }],
    ['api', 'api', { kind: 'hash' }],
    ['api', 'mongodb', { kind: 'transaction', commands: ['insert users', 'insert outbox'], isCommitted: true }],
    ['api', 'redis', { kind: 'enqueue' }],
    ['api', 'phone', { kind: 'answer', status: 201 }],
  ]);
  // Nothing of it is held for a later request with the same id.
  expect(read([rootOf('POST', 201)])).toHaveLength(2);
});

test('what the api does after its answer is told too', () => {
  const read = createStepReader();
  read([rootOf('POST', 201)]);
  expect(read([spanOf({ name: 'add deliver', at: 9 })]).map(({ deed }) => deed.kind)).toEqual(['enqueue']);
});

test('what only reads is told by its request and its answer', () => {
  const read = createStepReader();
  read(inside);
  expect(read([rootOf('GET', 200)]).map(({ deed }) => deed.kind)).toEqual(['request', 'answer']);
});

test('a transaction that was not committed shows', () => {
  const read = createStepReader();
  read(inside.filter(({ name }) => !name.startsWith('commit')));
  const deeds = read([rootOf('POST', 409)]).map(({ deed }) => deed);
  expect(deeds).toContainEqual({
    kind: 'transaction',
    commands: ['insert users', 'insert outbox'],
    isCommitted: false,
  });
});

test('deliveries and closed streams are told at once', () => {
  const delivery = { 'event.subscriber': 'mail', 'event.type': 'service.auth.events.registered', 'event.attempt': 2 };
  const spans = [
    spanOf({ name: 'event.deliver', at: 20, service: 'auth-worker', attributes: delivery }),
    spanOf({
      name: 'push.close',
      at: 30,
      service: 'auth-push-gateway',
      attributes: { 'push.close.reason': 'LOGOUT_CONFIRMED' },
    }),
    spanOf({ name: 'xadd', at: 31, service: 'auth-push-gateway' }),
  ];
  expect(createStepReader()(spans).map(({ from, to, deed }) => [from, to, deed])).toEqual([
    [
      'worker',
      'subscribers',
      { kind: 'deliver', by: 'mail', event: 'service.auth.events.registered', attempt: 2, hasFailed: false },
    ],
    ['redis', 'gateway', { kind: 'close', reason: 'LOGOUT_CONFIRMED' }],
  ]);
});

test('spans without a request are left out, and of requests that never end only so many are held', () => {
  const read = createStepReader();
  expect(read([{ ...rootOf('POST', 200), attributes: {} }])).toEqual([]);
  for (let n = 0; n <= 500; n += 1)
    read([spanOf({ name: 'password.hash', at: 1, attributes: { 'request.id': `r-${n}` } })]);
  const kindsOf = (id: string) => {
    const root = rootOf('POST', 200);
    return read([{ ...root, attributes: { ...root.attributes, 'request.id': id } }]).map(({ deed }) => deed.kind);
  };
  expect(kindsOf('r-0')).toEqual(['request', 'answer']);
  expect(kindsOf('r-500')).toEqual(['request', 'hash', 'answer']);
});

test('an export of traces is read with its service, its times in milliseconds, and its attributes', () => {
  const body = JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: 'auth-api' } }] },
        scopeSpans: [
          {
            spans: [
              {
                name: 'password.hash',
                spanId: 'a1',
                parentSpanId: '',
                startTimeUnixNano: '1795378842862218123',
                endTimeUnixNano: '1795378842864718123',
                attributes: [{ key: 'request.id', value: { stringValue: 'r' } }],
                status: { code: 2 },
              },
            ],
          },
        ],
      },
    ],
  });
  const [span] = readOtlpSpans(body);
  expect(span).toMatchObject({ service: 'auth-api', name: 'password.hash', id: 'a1', hasFailed: true });
  expect(span?.parentId).toBeUndefined();
  expect(span?.attributes).toEqual({ 'request.id': 'r' });
  expect(span?.at).toBeCloseTo(1_795_378_842_862.218, 3);
  expect(span?.durationMs).toBeCloseTo(2.5, 2);
});
