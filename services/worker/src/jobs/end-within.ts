import type { Logger } from '@auth-account/telemetry';

/**
 * Waits for work that is about to end, but no longer than `limitMs`: what hangs because MongoDB or Redis is away must not
 * keep the process from stopping in order. Throws what the work throws.
 */
export async function endWithin(limitMs: number, work: Promise<unknown>, logger: Logger, what: string): Promise<void> {
  const { promise: expiry, resolve } = Promise.withResolvers<'expired'>();
  const timer = setTimeout(() => resolve('expired'), limitMs);
  const first = await Promise.race([work, expiry]).finally(() => clearTimeout(timer));
  if (first !== 'expired') return;
  work.catch((error: unknown) => logger.debug({ err: error, what }, 'ended late'));
  logger.warn({ what, limitMs }, 'not waited for any longer');
}
