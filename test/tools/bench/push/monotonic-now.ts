/** Milliseconds of the machine's monotonic clock: of one zero in all processes. */
export function monotonicNow(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
