/** How each of the three forms of an HTTP date begins; `Date.parse` alone reads a date out of much that is none. */
const weekday = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/;

/**
 * What the header `Retry-After` asks for (RFC 9110, section 10.2.3: seconds or a date), in milliseconds from `now`;
 * undefined where it is missing, doubled or neither.
 */
export function retryAfterMs(header: string | string[] | undefined, now: Date): number | undefined {
  if (typeof header !== 'string') return undefined;
  if (/^\d+$/.test(header)) return Number(header) * 1_000;
  const date = weekday.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime());
}
