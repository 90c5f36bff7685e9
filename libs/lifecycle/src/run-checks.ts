import { withTimeLimit } from './with-time-limit.ts';

/** The result of a readiness check. A reason may also come with `ok: true`, as a warning. */
export interface CheckResult {
  readonly ok: boolean;
  readonly reason?: string;
}

/** One condition of readiness. It fails if its result is not `ok`, if it throws, or if it exceeds its limit. */
export interface Check {
  readonly name: string;
  readonly run: () => CheckResult | Promise<CheckResult>;
  /** Limit in ms; default 1000. */
  readonly timeoutMs?: number;
}

export interface CheckReport extends CheckResult {
  readonly name: string;
}

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
