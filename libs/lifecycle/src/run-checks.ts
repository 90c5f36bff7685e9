import type { Check, CheckReport } from './check.ts';
import { withTimeLimit } from './with-time-limit.ts';

const DEFAULT_TIMEOUT_MS = 1_000;

async function runCheck({ name, run, timeoutMs = DEFAULT_TIMEOUT_MS }: Check): Promise<CheckReport> {
  try {
    return { name, ...(await withTimeLimit(timeoutMs, run)) };
  } catch (error) {
    return { name, ok: false, reason: error instanceof Error ? error.message : String(error) };
  }
}

/** Runs all checks at once, each within its own limit; never throws. */
export function runChecks(checks: readonly Check[]): Promise<CheckReport[]> {
  return Promise.all(checks.map(runCheck));
}
