import { setTimeout as delay } from 'node:timers/promises';
import { ProxyTracerProvider, trace } from '@opentelemetry/api';

interface Stoppable {
  shutdown(): Promise<void>;
}

/** Limit for a stop's wait for the collector, in milliseconds. */
const patienceMs = 1_000;

/**
 * Sends the remaining spans and ends the exporter. Does nothing without tracing. It never fails. An unreachable
 * collector is reported, but must not make the shutdown of a service fail.
 */
export async function stopTracing(onLost: (error: unknown) => void): Promise<void> {
  const provider = trace.getTracerProvider();
  const delegate = provider instanceof ProxyTracerProvider ? provider.getDelegate() : provider;
  if (!isStoppable(delegate)) return;
  const limit = new AbortController();
  const tooLate = delay(patienceMs, undefined, { signal: limit.signal }).then(
    () => onLost(new Error(`the spans were not sent within ${patienceMs} ms`)),
    () => undefined,
  );
  await Promise.race([delegate.shutdown().catch(onLost), tooLate]);
  limit.abort();
}

function isStoppable(provider: object): provider is Stoppable {
  return 'shutdown' in provider && typeof provider.shutdown === 'function';
}
