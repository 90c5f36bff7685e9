/** What a readiness check found. A reason may also stand beside `ok: true`, as a warning. */
export interface CheckResult {
  readonly ok: boolean;
  readonly reason?: string;
}

/** One condition of readiness. It fails by its answer, by throwing, or by taking longer than its limit. */
export interface Check {
  readonly name: string;
  readonly run: () => CheckResult | Promise<CheckResult>;
  /** Limit in ms; 1000 where none is given. */
  readonly timeoutMs?: number;
}

export interface CheckReport extends CheckResult {
  readonly name: string;
}
