import type { Span } from './otlp-spans.ts';
import type { Deed, Place, RequestSteps, Step } from './step.ts';

/** Takes one delivery of spans, and returns the requests whose steps it has changed. */
export type StepReader = (spans: readonly Span[]) => RequestSteps[];

/**
 * Number of requests whose spans are kept. They are kept because a delivery to a subscriber may come long after the
 * answer.
 */
const keptRequests = 1_000;

/**
 * Reads steps. The order of spans in an export means nothing, because an export may be split, and it groups spans by
 * the library that made them. Each delivery therefore makes the reader work out a request's steps again from all its
 * spans. A span inside the api waits until every span above it has arrived, up to the request's own. Only then is it
 * known which commands belong to a transaction.
 */
export function createStepReader(): StepReader {
  const known = new Map<string, Map<string, Span>>();

  function keep(span: Span): string | undefined {
    const requestId = span.attributes['request.id'];
    if (typeof requestId !== 'string') return undefined;
    const spans = known.get(requestId) ?? new Map<string, Span>();
    spans.set(span.id, span);
    known.set(requestId, spans);
    return requestId;
  }

  return (delivery) => {
    const changed = new Set(delivery.map(keep).filter((requestId) => requestId !== undefined));
    const read = Array.from(changed, (requestId) => ({
      requestId,
      steps: stepsOf(known.get(requestId) ?? new Map()),
    }));
    for (const requestId of [...known.keys()].slice(0, -keptRequests)) known.delete(requestId);
    return read.filter(({ steps }) => steps.length > 0);
  };
}

type Spans = ReadonlyMap<string, Span>;

function stepsOf(spans: Spans): Step[] {
  const all = [...spans.values()];
  const ofApi = all.filter(({ service }) => service === 'auth-api');
  const outside = all.flatMap((span) => (span.service === 'auth-api' ? [] : stepOutside(span)));
  return [...ofApi.filter(isRequest).flatMap((root) => stepsOfRequest(root, ofApi, spans)), ...outside].toSorted(
    (one, other) => one.at - other.at,
  );
}

/** Returns true for the span of the request itself. */
const isRequest = ({ attributes }: Span) =>
  attributes['http.response.status_code'] !== undefined && attributes['url.path'] !== undefined;

function stepsOfRequest(root: Span, ofApi: readonly Span[], spans: Spans): Step[] {
  const { attributes } = root;
  const method = String(attributes['http.request.method']);
  const route = String(attributes['http.route'] ?? attributes['url.path']);
  const answer: Deed = { kind: 'answer', status: Number(attributes['http.response.status_code']) };
  // A request that only reads changes nothing, so the request and the answer are enough.
  const inside = method === 'GET' ? [] : stepsInside(root, ofApi, spans);
  return [
    stepOf([root], 'phone', 'api', { kind: 'request', method, route }),
    ...inside,
    { ...stepOf([root], 'api', 'phone', answer), at: endOf(root) },
  ];
}

/** Returns a number that orders the spans of a process that began in the same millisecond. */
const sequenceOf = ({ attributes }: Span) => Number(attributes['span.sequence'] ?? 0);

type OneOrMore = readonly [Span, ...Span[]];

/** The spans of one step, with the step's kind. */
interface Run {
  readonly kind: 'hash' | 'enqueue' | 'transaction' | 'commands' | 'hints';
  readonly spans: OneOrMore;
}

function stepsInside(root: Span, ofApi: readonly Span[], spans: Spans): Step[] {
  const inside = ofApi
    .map((span) => ({ span, above: spansAbove(span, root, spans) }))
    .filter(({ above }) => above !== undefined)
    .toSorted(({ span: one }, { span: other }) => one.at - other.at || sequenceOf(one) - sequenceOf(other));
  const partsOf = (whole: Span) => inside.filter(({ above }) => above?.includes(whole)).map(({ span }) => span);
  const runs: Run[] = [];
  for (const { span, above } of inside) {
    // The commands within a transaction, or within putting an event into the queue, are not steps of their own.
    const kind = above?.some((whole) => isWhole(kindOf(whole))) ? undefined : kindOf(span);
    if (kind === undefined) continue;
    const last = runs.at(-1);
    // Work after the answer, such as a hint that may wait, is a separate step, because the answer did not wait for it.
    const isApart = last === undefined || (last.spans[0].at < endOf(root) && span.at >= endOf(root));
    if (!isApart && last.kind === kind && !isWhole(kind))
      runs[runs.length - 1] = { kind, spans: [...last.spans, span] };
    else runs.push({ kind, spans: [span] });
  }
  return runs.map((run) => stepOfRun(run, partsOf));
}

/**
 * Returns the spans between a span and the request's own. Returns undefined if the span is not below the request's own,
 * or if a span in between has not arrived yet.
 */
function spansAbove(span: Span, root: Span, spans: Spans): readonly Span[] | undefined {
  if (span.parentId === root.id) return [];
  const parent = spans.get(span.parentId ?? '');
  const above = parent && parent !== root ? spansAbove(parent, root, spans) : undefined;
  return parent && above && [parent, ...above];
}

const isWhole = (kind: Run['kind'] | undefined) => kind === 'transaction' || kind === 'enqueue' || kind === 'hash';

function kindOf({ name, attributes }: Span): Run['kind'] | undefined {
  if (name.startsWith('password.')) return 'hash';
  if (name.startsWith('add ')) return 'enqueue';
  if (name === 'mongodb.transaction') return 'transaction';
  const system = attributes['db.system.name'];
  if (system === 'mongodb') return 'commands';
  return system === 'redis' ? 'hints' : undefined;
}

function stepOfRun({ kind, spans }: Run, partsOf: (whole: Span) => Span[]): Step {
  switch (kind) {
    case 'hash':
      return stepOf(spans, 'api', 'api', { kind });
    case 'enqueue':
      return stepOf(spans, 'api', 'redis', { kind });
    case 'hints':
      return stepOf(spans, 'api', 'redis', { kind, count: spans.length });
    case 'commands':
      return stepOf(spans, 'api', 'mongodb', { kind, commands: spans.map(({ name }) => name) });
    default: {
      const commands = lastAttempt(partsOf(spans[0]).map(({ name }) => name));
      return stepOf(spans, 'api', 'mongodb', { kind, commands, isCommitted: !spans[0].hasFailed });
    }
  }
}

/**
 * Returns the commands of the last attempt. A transaction that conflicts with another runs again, and only its last
 * attempt has an effect.
 */
function lastAttempt(commands: readonly string[]): string[] {
  const isEnd = (command: string) => command === 'abortTransaction' || command === 'commitTransaction';
  const work = commands.findLastIndex((command) => !isEnd(command));
  const begin = commands.slice(0, work + 1).lastIndexOf('abortTransaction') + 1;
  return commands.slice(begin).filter((command) => !isEnd(command));
}

const endOf = ({ at, durationMs }: Span) => at + durationMs;

/** Returns a step that lasts from the start of its first span to the end of its last. */
function stepOf(spans: OneOrMore, from: Place, to: Place, deed: Deed): Step {
  const [first] = spans;
  const durationMs = Math.max(...spans.map(endOf)) - first.at;
  return { id: `${first.id}-${deed.kind}`, from, to, at: first.at, durationMs, deed };
}

function stepOutside(span: Span): Step[] {
  const { name, attributes } = span;
  if (name === 'push.close') {
    return [stepOf([span], 'redis', 'gateway', { kind: 'close', reason: String(attributes['push.close.reason']) })];
  }
  if (name !== 'event.deliver') return [];
  const deed: Deed = {
    kind: 'deliver',
    by: attributes['event.subscriber'] === 'mail' ? 'mail' : 'webhook',
    event: String(attributes['event.type']),
    attempt: Number(attributes['event.attempt']),
    hasFailed: span.hasFailed,
  };
  return [stepOf([span], 'worker', 'subscribers', deed)];
}
