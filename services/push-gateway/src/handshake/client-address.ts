import type { HttpResponse } from 'uWebSockets.js';
import type { Handshake } from './handshake.ts';

/**
 * The address of the client: so many proxies from the right of `X-Forwarded-For` are ours, and the first of them is who
 * connects to the gateway. Of a shorter list it is the leftmost. The response must not have been aborted.
 */
export function clientAddress(
  res: Pick<HttpResponse, 'getRemoteAddressAsText'>,
  { forwardedFor }: Pick<Handshake, 'forwardedFor'>,
  trustedProxyHops: number,
): string | undefined {
  const peer = Buffer.from(res.getRemoteAddressAsText()).toString();
  return [...forwardedFor, peer].slice(-trustedProxyHops - 1)[0];
}
