import type { Logger } from '@auth-account/telemetry';

const repeatAfterMs = 60_000;

/** Takes the errors of something that tries again by itself. */
export type ErrorLog = (error: unknown, context?: object) => void;

/**
 * Logs an error as a warning, the same message at most once a minute: a server that is away for an hour fails thousands
 * of attempts.
 */
export function createErrorLog(logger: Logger, message: string, now = () => performance.now()): ErrorLog {
  const logged = new Map<string, number>();
  return (error, context = {}) => {
    const key = error instanceof Error ? error.message : String(error);
    const at = now();
    const last = logged.get(key);
    if (last !== undefined && at - last < repeatAfterMs) return;
    if (logged.size > 100) logged.clear();
    logged.set(key, at);
    logger.warn({ ...context, err: error }, message);
  };
}
