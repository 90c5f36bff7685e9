import { tracingChannel } from 'node:diagnostics_channel';
import { ProxyTracerProvider, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';

/** A command to MongoDB or Redis, without its values. */
export interface StoreCommand {
  readonly system: 'mongodb' | 'redis';
  readonly name: string;
  /** `host:port`, or the path of a socket. */
  readonly address: string;
  readonly database?: string;
  readonly collection?: string | undefined;
}

/** Returns true if this process records traces. */
export function isTraced(): boolean {
  const provider = trace.getTracerProvider();
  return provider instanceof ProxyTracerProvider && 'shutdown' in provider.getDelegate();
}

/**
 * Begins the span of a command (OpenTelemetry's semantic conventions, "Database client spans"). Returns undefined if no
 * span is active, because then no traced work has sent the command, or its trace is not kept.
 */
export function beginCommand({ system, name, address, database, collection }: StoreCommand): Span | undefined {
  if (trace.getActiveSpan() === undefined) return undefined;
  const [, host = address, port] = /^(.*):(\d+)$/.exec(address) ?? [];
  const attributes = {
    'db.system.name': system,
    'db.operation.name': name,
    'db.namespace': database,
    'db.collection.name': collection,
    'server.address': host,
    'server.port': port === undefined ? undefined : Number(port),
  };
  const named = collection === undefined ? name : `${name} ${collection}`;
  return trace.getTracer('auth-account').startSpan(named, { kind: SpanKind.CLIENT, attributes });
}

/** Ends the span of a failed command, without the store's message, which quotes values. */
export function endFailedCommand(span: Span | undefined, error: unknown, code: string | undefined): void {
  span?.setAttribute('error.type', error instanceof Error ? error.name : typeof error);
  if (code !== undefined) span?.setAttribute('db.response.status_code', code);
  span?.setStatus({ code: SpanStatusCode.ERROR }).end();
}

/** A command, as ioredis announces it: the same object until the command has ended. */
interface Announced {
  readonly command: string;
  readonly serverAddress: string;
  readonly serverPort: number | undefined;
  readonly error?: Error;
}

/** Has each command that a client of ioredis sends in this process be a span, by the channels that ioredis offers. */
export function traceRedis(): void {
  const spans = new WeakMap<object, Span>();
  const { start, error, asyncEnd } = tracingChannel('ioredis:command');
  start.subscribe((message) => {
    const { command: name, serverAddress, serverPort } = message as Announced;
    const address = serverPort === undefined ? serverAddress : `${serverAddress}:${serverPort}`;
    const span = beginCommand({ system: 'redis', name, address });
    if (span) spans.set(message as Announced, span);
  });
  error.subscribe((message) => {
    const { error } = message as Announced;
    // The first word of Redis's own errors is their code.
    endFailedCommand(spans.get(message as Announced), error, /^[A-Z]+(?= )/.exec(error?.message ?? '')?.[0]);
    spans.delete(message as Announced);
  });
  asyncEnd.subscribe((message) => spans.get(message as Announced)?.end());
}
