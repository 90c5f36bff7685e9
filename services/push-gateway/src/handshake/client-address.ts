import type { HttpResponse } from 'uWebSockets.js';
import type { Handshake } from './handshake.ts';

/**
 * Returns the address of the client. `trustedProxyHops` of the hops are our own proxies: the gateway's peer first, then
 * the entries of `X-Forwarded-For` from the right. The client is the hop before these, or the leftmost of a shorter
 * list. The response must not have been aborted.
 */
export function clientAddress(
  res: Pick<HttpResponse, 'getRemoteAddressAsText'>,
  { forwardedFor }: Pick<Handshake, 'forwardedFor'>,
  trustedProxyHops: number,
): string | undefined {
  const peer = Buffer.from(res.getRemoteAddressAsText()).toString();
  return [...forwardedFor, peer].slice(-trustedProxyHops - 1)[0];
}
