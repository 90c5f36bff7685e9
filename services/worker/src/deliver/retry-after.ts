/**
 * What the header `Retry-After` asks for (RFC 9110, section 10.2.3: seconds or a date), in milliseconds from `now`;
 * undefined where it is missing, doubled or neither.
 */
export function retryAfterMs(header: string | string[] | undefined, now: Date): number | undefined {
  if (typeof header !== 'string') return undefined;
  if (/^\d+$/.test(header)) return Number(header) * 1_000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime());
}
