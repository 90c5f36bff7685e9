import type { Logger } from '@auth-account/telemetry';

const repeatAfterMs = 60_000;

/** Logs the errors of a component that tries again by itself. */
export type ErrorLog = (error: unknown, context?: object) => void;

/**
 * Creates a log that writes errors as warnings. It writes the same message at most once a minute, because thousands of
 * attempts fail while a server is away for an hour.
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
