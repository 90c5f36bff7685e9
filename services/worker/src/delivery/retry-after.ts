/**
 * The three forms of an HTTP date (RFC 9110, section 5.6.7): `Date.parse` alone accepts much that is no date.
 */
const time = '\\d{2}:\\d{2}:\\d{2}';
const dateForms = [
  new RegExp(`^[A-Z][a-z]{2}, \\d{2} [A-Z][a-z]{2} \\d{4} ${time} GMT$`),
  new RegExp(`^[A-Z][a-z]+day, \\d{2}-[A-Z][a-z]{2}-\\d{2} ${time} GMT$`),
  new RegExp(`^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \\d]\\d ${time} \\d{4}$`),
];

/**
 * Reads the header `Retry-After` (RFC 9110, section 10.2.3: seconds or a date), as milliseconds from `now`; undefined
 * if it is missing, doubled or neither of the two.
 */
export function retryAfterMs(header: string | string[] | undefined, now: Date): number | undefined {
  if (typeof header !== 'string') return undefined;
  if (/^\d+$/.test(header)) return Number(header) * 1_000;
  if (!dateForms.some((form) => form.test(header))) return undefined;
  const date = Date.parse(header.endsWith(' GMT') ? header : `${header} GMT`);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime());
}
