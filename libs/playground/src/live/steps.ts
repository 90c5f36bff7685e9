import type { Span } from './otlp-spans.ts';
import type { Deed, Place, Step } from './step.ts';

/** Takes spans in the order of their ends and returns the steps that are known now. */
export type StepReader = (spans: readonly Span[]) => Step[];

const heldRequests = 500;

/**
 * Creates the reader. The spans of a request inside the api wait for the request's own span, which ends last: only then
 * it is known which commands were a transaction's. Those of the other services are steps at once.
 */
export function createStepReader(): StepReader {
  const held = new Map<string, Span[]>();
  const answered = new Set<string>();

  function hold(requestId: string, span: Span): void {
    const others = held.get(requestId);
    if (others) others.push(span);
    else held.set(requestId, [span]);
    dropOldest(held);
  }

  function take(span: Span): Step[] {
    const requestId = span.attributes['request.id'];
    if (typeof requestId !== 'string') return [];
    if (span.service !== 'auth-api') return stepOutside(span, requestId);
    if (span.attributes['http.response.status_code'] === undefined || span.attributes['url.path'] === undefined) {
      // What goes on after the answer: an event onto its queue.
      if (answered.has(requestId)) return stepsInside([span], requestId);
      hold(requestId, span);
      return [];
    }
    const inside = held.get(requestId) ?? [];
    held.delete(requestId);
    answered.add(requestId);
    dropOldest(answered);
    return stepsOfRequest(span, inside, requestId);
  }

  return (spans) => spans.flatMap(take);
}

function dropOldest(kept: Map<string, unknown> | Set<string>): void {
  const [oldest] = kept.keys();
  if (kept.size > heldRequests && oldest !== undefined) kept.delete(oldest);
}

function stepOf(span: Span, requestId: string, from: Place, to: Place, deed: Deed): Step {
  const { id, at, durationMs } = span;
  return { id: `${id}-${deed.kind}`, requestId, from, to, at, durationMs, deed };
}

function stepsOfRequest(root: Span, inside: readonly Span[], requestId: string): Step[] {
  const { attributes } = root;
  const request = {
    kind: 'request',
    method: String(attributes['http.request.method']),
    route: String(attributes['http.route'] ?? attributes['url.path']),
  } as const;
  const answer: Deed = { kind: 'answer', status: Number(attributes['http.response.status_code']) };
  // What only reads changes nothing: its request and its answer are enough.
  const within = request.method === 'GET' ? [] : [...stepsInside(inside, requestId), ...commandsOf(inside, requestId)];
  return [
    stepOf(root, requestId, 'phone', 'api', request),
    ...within.sort((one, other) => one.at - other.at),
    { ...stepOf(root, requestId, 'api', 'phone', answer), at: root.at + root.durationMs },
  ];
}

function stepsInside(spans: readonly Span[], requestId: string): Step[] {
  return spans.flatMap((span) => {
    if (span.name.startsWith('password.')) return [stepOf(span, requestId, 'api', 'api', { kind: 'hash' })];
    if (span.name.startsWith('add ')) return [stepOf(span, requestId, 'api', 'redis', { kind: 'enqueue' })];
    if (span.name !== 'mongodb.transaction') return [];
    const all = spans.filter(({ parentId, name }) => parentId === span.id && isOfMongo(name)).map(commandName);
    const commands = all.filter((name) => !endings.includes(name));
    const deed: Deed = { kind: 'transaction', commands, isCommitted: all.includes('commitTransaction') };
    return [stepOf(span, requestId, 'api', 'mongodb', deed)];
  });
}

const endings = ['commitTransaction', 'abortTransaction'];
const mongoCommand = /^(find|insert|update|delete|findAndModify|aggregate|commitTransaction|abortTransaction) /;
const isOfMongo = (name: string) => mongoCommand.test(name);

/** `findAndModify $cmd` is the driver's way to name a command whose collection it does not tell. */
const commandName = ({ name }: Span) => name.replace(/ \$cmd$/, '');

/** The commands outside of transactions: one step for MongoDB's and one for Redis's. */
function commandsOf(spans: readonly Span[], requestId: string): Step[] {
  const transactions = new Set(spans.filter(({ name }) => name === 'mongodb.transaction').map(({ id }) => id));
  const mongo = spans.filter(({ name, parentId }) => isOfMongo(name) && !transactions.has(parentId ?? ''));
  const redis = spans.filter(
    ({ name, attributes }) =>
      attributes['db.operation.name'] !== undefined &&
      !isOfMongo(name) &&
      attributes['db.collection.name'] === undefined,
  );
  const lastOfMongo = mongo.at(-1);
  const lastOfRedis = redis.at(-1);
  return [
    ...(lastOfMongo
      ? [stepOf(lastOfMongo, requestId, 'api', 'mongodb', { kind: 'commands', commands: mongo.map(commandName) })]
      : []),
    ...(lastOfRedis ? [stepOf(lastOfRedis, requestId, 'api', 'redis', { kind: 'hints', count: redis.length })] : []),
  ];
}

function stepOutside(span: Span, requestId: string): Step[] {
  const { name, attributes } = span;
  if (name === 'push.close') {
    const deed: Deed = { kind: 'close', reason: String(attributes['push.close.reason']) };
    return [stepOf(span, requestId, 'redis', 'gateway', deed)];
  }
  if (name !== 'event.deliver') return [];
  const deed: Deed = {
    kind: 'deliver',
    by: attributes['event.subscriber'] === 'mail' ? 'mail' : 'webhook',
    event: String(attributes['event.type']),
    attempt: Number(attributes['event.attempt']),
    hasFailed: span.hasFailed,
  };
  return [stepOf(span, requestId, 'worker', 'subscribers', deed)];
}
