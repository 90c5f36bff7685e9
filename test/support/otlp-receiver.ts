import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { waitUntil } from '@auth-account/local-stack';
import { readOtlpSpans, type Span } from '@auth-account/playground/otlp-spans';
import { listen } from './listen.ts';

export type OtlpReceiver = Awaited<ReturnType<typeof startOtlpReceiver>>;

/**
 * Starts a receiver of traces over OTLP/HTTP (opentelemetry.io/docs/specs/otlp). It keeps traces that are sent as JSON;
 * with `keep: false` it accepts any encoding and keeps nothing.
 */
export async function startOtlpReceiver({ keep = true } = {}) {
  const spans: Span[] = [];
  const bodies: string[] = [];
  const receiver = createServer((req, res) => {
    text(req).then(
      (body) => {
        if (keep) bodies.push(body);
        if (keep && req.url === '/v1/traces') spans.push(...readOtlpSpans(body));
        res.setHeader('Content-Type', 'application/json').end('{}');
      },
      () => res.destroy(),
    );
  });
  return {
    /** `url` is for `OTEL_EXPORTER_OTLP_ENDPOINT`, with the protocol `http/json`. */
    ...(await listen(receiver)),
    spans: (): readonly Span[] => spans,
    /** Returns every request body as received. */
    raw: () => bodies.join('\n'),
    /** Resolves with the spans once `isThere` returns true for them. Throws after `timeoutMs`, and names those that came. */
    async waitFor(isThere: (spans: readonly Span[]) => boolean, timeoutMs = 60_000): Promise<readonly Span[]> {
      await waitUntil(async () => isThere(spans), { what: 'the spans', timeoutMs }).catch((cause) => {
        throw new Error(`the spans did not arrive; received: ${spans.map(({ name }) => name).join(', ')}`, { cause });
      });
      return spans;
    },
  };
}
