import { expect, test } from '@jest/globals';
import { readOtlpSpans, type Span } from './otlp-spans.ts';
import type { Step } from './step.ts';
import { createStepReader } from './steps.ts';

const requestId = 'phone-1';

interface Given {
  readonly name: string;
  readonly at: number;
  readonly parentId?: string;
  readonly service?: string;
  readonly durationMs?: number;
  readonly attributes?: Readonly<Record<string, unknown>>;
}

function spanOf({ name, at, parentId, service = 'auth-api', durationMs = 0.5, attributes = {} }: Given): Span {
  const own = { 'request.id': requestId, ...attributes };
  const ids = { traceId: 'the one trace', id: `span-of-${name}`, parentId };
  return { ...ids, service, name, at, durationMs, hasFailed: false, attributes: own };
}

const rootOf = (method: string, status: number): Span =>
  spanOf({
    name: 'request',
    at: 0,
    durationMs: 20,
    attributes: {
      'http.request.method': method,
      'http.route': '/api/v1/auth/register',
      'url.path': '/api/v1/auth/register',
      'http.response.status_code': status,
    },
  });

const mongo = (name: string, at: number, parentId = 'span-of-request') =>
  spanOf({ name, at, parentId, attributes: { 'db.system.name': 'mongodb' } });
const redis = (name: string, at: number, parentId = 'span-of-request') =>
  spanOf({ name, at, parentId, attributes: { 'db.system.name': 'redis' } });
const inRequest = { parentId: 'span-of-request' };

const inTransaction = 'span-of-mongodb.transaction';
const transaction = spanOf({ name: 'mongodb.transaction', at: 5, ...inRequest });
const inside = [
  redis('get', 1),
  redis('evalsha', 2),
  mongo('find users', 3),
  spanOf({ name: 'password.hash', at: 4, ...inRequest }),
  transaction,
  mongo('insert users', 6, inTransaction),
  mongo('insert outbox', 7, inTransaction),
  mongo('commitTransaction', 8, inTransaction),
  spanOf({ name: 'add deliver', at: 9, ...inRequest }),
  redis('xadd', 10, 'span-of-add deliver'),
  redis('publish', 11),
];

const expected = [
  ['phone', 'api', { kind: 'request', method: 'POST', route: '/api/v1/auth/register' }],
  ['api', 'redis', { kind: 'hints', count: 2 }],
  ['api', 'mongodb', { kind: 'commands', commands: ['find users'] }],
  ['api', 'api', { kind: 'hash' }],
  ['api', 'mongodb', { kind: 'transaction', commands: ['insert users', 'insert outbox'], isCommitted: true }],
  ['api', 'redis', { kind: 'enqueue' }],
  ['api', 'redis', { kind: 'hints', count: 1 }],
  ['api', 'phone', { kind: 'answer', status: 201 }],
];

/** Reads these deliveries of spans, and returns the steps of the request that the page has in the end. */
function stepsAfter(...deliveries: readonly Span[][]): Step[] {
  const read = createStepReader();
  return deliveries.reduce<Step[]>((last, delivery) => [...(read(delivery)[0]?.steps ?? last)], []);
}
const shapeOf = (steps: readonly Step[]) => steps.map(({ from, to, deed }) => [from, to, deed] as const);
const deedsOf = (steps: readonly Step[]) => steps.map(({ deed }) => deed);

test('commands that began in the same millisecond are ordered by their numbers', () => {
  const names = ['find users', 'insert users', 'update groups', 'insert outbox'];
  const commands = names.map((name, index) => {
    const command = mongo(name, 6, inTransaction);
    return { ...command, attributes: { ...command.attributes, 'span.sequence': index + 9 } };
  });
  const [steps] = createStepReader()([rootOf('POST', 201), transaction, ...commands.toReversed()]);
  expect(steps?.steps.find(({ deed }) => deed.kind === 'transaction')?.deed).toMatchObject({ commands: names });
});

test('a request is shown with its steps in order, and its transaction with its commands', () => {
  expect(shapeOf(stepsAfter([...inside, rootOf('POST', 201)]))).toEqual(expected);
});

test('deliveries that are split and out of order end in the same steps, and show nothing false before', () => {
  for (let round = 0; round < 200; round += 1) {
    const spans = [...inside, rootOf('POST', 201)].map((span) => ({ span, order: Math.random() }));
    spans.sort((one, other) => one.order - other.order);
    const read = createStepReader();
    const reports: ReturnType<typeof shapeOf>[] = [];
    while (spans.length > 0) {
      const delivery = spans.splice(0, 1 + (round % 5)).map(({ span }) => span);
      reports.push(read(delivery).flatMap(({ steps }) => shapeOf(steps)));
    }
    expect(reports.at(-1)).toEqual(expected);
    for (const [, , deed] of reports.flat()) {
      expect(deed).not.toMatchObject({ isCommitted: false });
      if (deed.kind === 'commands') expect(deed.commands).toEqual(['find users']);
    }
  }
});

test('a span waits until all its ancestors are there', () => {
  const [, , , , , insert] = inside;
  expect(deedsOf(stepsAfter(insert ? [insert, rootOf('POST', 201)] : []))).toEqual([
    expect.objectContaining({ kind: 'request' }),
    { kind: 'answer', status: 201 },
  ]);
});

test('the api’s work after its answer is shown too', () => {
  const late = spanOf({ name: 'add deliver', at: 30, ...inRequest });
  expect(deedsOf(stepsAfter([rootOf('POST', 201)], [late])).map(({ kind }) => kind)).toEqual([
    'request',
    'answer',
    'enqueue',
  ]);
});

test('a hint after the answer is not part of what the answer waited for', () => {
  const late = redis('hset', 900);
  const steps = stepsAfter([rootOf('POST', 201), redis('get', 1), redis('evalsha', 2), late]);
  const hints = steps.filter(({ deed }) => deed.kind === 'hints');
  expect(hints.map(({ at, durationMs }) => [at, durationMs])).toEqual([
    [1, 1.5],
    [900, 0.5],
  ]);
});

test('a request that only reads is shown as its request and its answer', () => {
  expect(deedsOf(stepsAfter([...inside, rootOf('GET', 200)])).map(({ kind }) => kind)).toEqual(['request', 'answer']);
});

test('a failed transaction is shown', () => {
  const failed = inside.map((span) => (span === transaction ? { ...span, hasFailed: true } : span));
  expect(deedsOf(stepsAfter([...failed, rootOf('POST', 409)]))).toContainEqual({
    kind: 'transaction',
    commands: ['insert users', 'insert outbox'],
    isCommitted: false,
  });
});

test('the last attempt of a transaction that ran again is shown', () => {
  const first = [mongo('insert groups', 5.2, inTransaction), mongo('abortTransaction', 5.4, inTransaction)];
  expect(shapeOf(stepsAfter([...first, ...inside, rootOf('POST', 201)]))).toEqual(expected);
});

test('deliveries and closed streams are shown at once', () => {
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
  expect(shapeOf(stepsAfter(spans))).toEqual([
    [
      'worker',
      'subscribers',
      { kind: 'deliver', by: 'mail', event: 'service.auth.events.registered', attempt: 2, hasFailed: false },
    ],
    ['redis', 'gateway', { kind: 'close', reason: 'LOGOUT_CONFIRMED' }],
  ]);
});

test('spans without a request are left out, and only the newest requests are kept', () => {
  const read = createStepReader();
  expect(read([{ ...rootOf('POST', 200), attributes: {} }])).toEqual([]);
  const of = (id: string, span: Span) => ({ ...span, attributes: { ...span.attributes, 'request.id': id } });
  const hash = spanOf({ name: 'password.hash', at: 1, ...inRequest });
  for (let n = 0; n <= 1_000; n += 1) read([of(`r-${n}`, hash)]);
  const kindsOf = (id: string) => read([of(id, rootOf('POST', 200))])[0]?.steps.map(({ deed }) => deed.kind);
  expect(kindsOf('r-1')).toEqual(['request', 'hash', 'answer']);
  expect(kindsOf('r-0')).toEqual(['request', 'answer']);
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
