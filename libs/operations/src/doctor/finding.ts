/** Result of a check. `fix` is advice on a failure. */
export interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'failed';
  readonly detail: string;
  readonly fix?: string;
}

export const ok = (check: string, detail: string): Finding => ({ check, status: 'ok', detail });
export const failed = (check: string, detail: string, fix: string): Finding => ({
  check,
  status: 'failed',
  detail,
  fix,
});
export const warning = (check: string, detail: string, fix: string): Finding => ({
  check,
  status: 'warning',
  detail,
  fix,
});

const variableCheck = 'variable ';

/** Creates the finding for a variable of the environment that is missing or wrong. */
export const failedVariable = (name: string, detail: string, fix: string) =>
  failed(`${variableCheck}${name}`, detail, fix);

/** Returns whether a variable of the environment is missing or wrong. */
export const isOfVariable = ({ check }: Finding): boolean => check.startsWith(variableCheck);

/** Returns true if the version in `text` is at least `wanted`. */
export function isAtLeast(text: string, wanted: readonly [major: number, minor: number]): boolean {
  const [major = 0, minor = 0] = text.split('.').map(Number);
  return major > wanted[0] || (major === wanted[0] && minor >= wanted[1]);
}

/** Limits for the difference of clocks. Tokens are accepted 5 s early or late, so the difference must be below 5 s. */
const clockWarningMs = 1_000;
const clockFailureMs = 5_000;

/** Compares a server's clock with this machine's clock at the middle of the round trip. */
export async function checkClock(server: string, readTimeMs: () => Promise<number>): Promise<Finding> {
  const asked = Date.now();
  const there = await readTimeMs();
  const answered = Date.now();
  const skew = Math.round(there - (asked + answered) / 2);
  const detail = `${skew} ms from this machine's, give or take ${Math.ceil((answered - asked) / 2)} ms`;
  return judgeClock(`${server} clock`, skew, detail);
}

const clockFix = 'Have the clocks of all machines set by NTP (chrony), and see which of the two is wrong.';

/** Returns the finding for a clock that is off by so many milliseconds. */
export function judgeClock(check: string, offMs: number, detail: string): Finding {
  if (Math.abs(offMs) >= clockFailureMs) return failed(check, detail, clockFix);
  return Math.abs(offMs) >= clockWarningMs ? warning(check, detail, clockFix) : ok(check, detail);
}
