import type { CheckProblem } from './variable-schema.ts';

/** Reports a setting that matches its pattern and yet is no URL. The message does not repeat it. */
export function urlProblems(value: unknown): CheckProblem[] {
  return typeof value !== 'string' || URL.canParse(value) ? [] : [{ path: '', message: 'must be a URL' }];
}
