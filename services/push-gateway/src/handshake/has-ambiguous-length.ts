import type { HttpRequest } from 'uWebSockets.js';

/**
 * Whether two readers might see two ends of this request. uWebSockets.js takes the first of several lengths and is lenient
 * with chunks; RFC 9112 sections 6.3 and 11.2 want such a request refused and its connection ended. Nothing here needs a
 * body, so that a transfer coding is refused whatever it is.
 */
export function hasAmbiguousLength(req: HttpRequest): boolean {
  const lengths: string[] = [];
  let isCoded = false;
  req.forEach((name, value) => {
    if (name === 'content-length') lengths.push(value);
    if (name === 'transfer-encoding') isCoded = true;
  });
  return isCoded || lengths.length > 1 || !/^\d*$/.test(lengths[0] ?? '') || lengths[0] === '';
}
