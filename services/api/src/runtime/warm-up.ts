import { createServer, type RequestListener, type Server } from 'node:http';
import { addAbortSignal, duplexPair } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Logger } from '@auth-account/telemetry';

/** In milliseconds. A start takes no longer because a store does not answer. */
const usualLimitMs = 2_000;

/**
 * Logins of the warm-up, one round after the other. Two at once make MongoDB's driver open a second connection. More
 * rounds would cost more than they save the first clients.
 */
const [rounds, atOnce] = [2, 2];

export interface WarmUpDeps {
  /** The api, as `composeWarmUp` makes it. */
  readonly app: RequestListener;
  readonly logger: Logger;
  /** Ends the warm-up early, for a stop. */
  readonly signal: AbortSignal;
  /** Limit in milliseconds, if another than usual. */
  readonly limitMs?: number | undefined;
}

/**
 * Warms up with logins before the api listens, so that V8 has compiled their code, and connections to MongoDB are open,
 * when the first client logs in. The requests come through a pair of streams instead of a port. The hash thread is warm
 * already, because it has made the dummy hash, and so is the key that signs access tokens, because it was tried out.
 *
 * A failure is logged as a warning, and the start goes on: the first clients then wait as long as they would without
 * this.
 */
export async function warmUp({ app, logger, signal: stop, limitMs = usualLimitMs }: WarmUpDeps): Promise<void> {
  const begun = performance.now();
  const server = createServer(app);
  const signal = AbortSignal.any([stop, AbortSignal.timeout(limitMs)]);
  try {
    for (let round = 0; round < rounds; round += 1) {
      await Promise.all(Array.from({ length: atOnce }, () => runWarmUp(server, signal)));
    }
    logger.info({ ms: Math.round(performance.now() - begun) }, 'warmed up');
  } catch (error) {
    if (!stop.aborted) logger.warn({ err: error }, 'the warm-up failed: the first requests will take longer');
  }
}

/** A login as an app sends it. Its trace is marked as one that is not kept. */
const body = JSON.stringify({
  email: 'nobody@warm-up.invalid',
  password: 'correct horse battery staple',
  device_id: '00000000-0000-4000-8000-000000000000',
  device_name: 'Warm-up',
  platform: 'ios',
});
const login = `POST /api/v1/auth/login HTTP/1.1\r
Host: api\r
X-Request-ID: warm-up\r
Idempotency-Key: warm-up\r
traceparent: 00-00000000000000000000000000000001-0000000000000001-00\r
Content-Type: application/json\r
Content-Length: ${Buffer.byteLength(body)}\r
Connection: close\r
\r
${body}`;

/** Throws if the answer is not that of an unknown account. */
async function runWarmUp(server: Server, signal: AbortSignal): Promise<void> {
  const [client, socket] = duplexPair();
  server.emit('connection', socket);
  client.write(login);
  // Destroyed, it no longer listens to the signal, which outlives the warm-up.
  const answer = await text(addAbortSignal(signal, client)).finally(() => client.destroy());
  const [line] = answer.split('\r\n', 1);
  if (line !== 'HTTP/1.1 401 Unauthorized') throw new Error(`the warm-up login was answered ${line}`);
}
