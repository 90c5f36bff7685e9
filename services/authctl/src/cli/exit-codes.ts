/** How authctl ends (the larger ones as in BSD's sysexits). */
export const exitCodes = {
  ok: 0,
  /** Not there, or the answer is no: a check that failed, lines that were not imported, a question that was denied. */
  negative: 1,
  usage: 2,
  /** MongoDB or Redis could not be reached, or did not answer in time. */
  unavailable: 69,
  /** A fault of authctl's own. */
  internal: 70,
  /** The environment lacks something, or it is wrong. */
  configuration: 78,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
