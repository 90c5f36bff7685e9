/** The part of a span that the picture and the tests need. */
export interface Span {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly id: string;
  readonly parentId: string | undefined;
  /** Start in whole milliseconds since 1970. The SDK does not record a start more precisely. */
  readonly at: number;
  readonly durationMs: number;
  readonly hasFailed: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
}

interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface OtlpSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly KeyValue[];
  readonly status?: { readonly code?: number };
}

interface OtlpTraces {
  readonly resourceSpans?: readonly {
    readonly resource?: { readonly attributes?: readonly KeyValue[] };
    readonly scopeSpans?: readonly { readonly spans?: readonly OtlpSpan[] }[];
  }[];
}

const failed = 2;

/** Reads an export of traces (OTLP/HTTP as JSON). For a malformed document it throws an error, of any type. */
export function readOtlpSpans(body: string): Span[] {
  const { resourceSpans = [] }: OtlpTraces = JSON.parse(body);
  return resourceSpans.flatMap(({ resource, scopeSpans = [] }) => {
    const service = String(attributesOf(resource?.attributes)['service.name']);
    return scopeSpans.flatMap(({ spans = [] }) => spans.map((span) => read(span, service)));
  });
}

function read(span: OtlpSpan, service: string): Span {
  const at = millisecondsOf(span.startTimeUnixNano);
  return {
    service,
    name: span.name,
    traceId: span.traceId,
    id: span.spanId,
    parentId: span.parentSpanId || undefined,
    at,
    durationMs: millisecondsOf(span.endTimeUnixNano) - at,
    hasFailed: span.status?.code === failed,
    attributes: attributesOf(span.attributes),
  };
}

function attributesOf(list: readonly KeyValue[] = []): Record<string, unknown> {
  return Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]]));
}

/** Converts to milliseconds and keeps microseconds, because steps of one request are less than a millisecond apart. */
function millisecondsOf(nanoseconds: string): number {
  return Number(BigInt(nanoseconds) / 1_000n) / 1_000;
}
