/** Returns the milliseconds of the machine's monotonic clock, which has the same zero in all processes. */
export function monotonicNow(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
