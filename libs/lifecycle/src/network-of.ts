import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Number of significant bits of an IP address, by family. */
export interface PrefixLength {
  readonly v4: number;
  readonly v6: number;
}

/** Prefix of a client's network in the audit log. It shows roughly the origin, but not the person. */
const loggedPrefix: PrefixLength = { v4: 24, v6: 48 };

const withPort = /^(?:(?<v4>[\d.]+)|\[(?<v6>[^\]]+)\]):\d{1,5}$/;

/**
 * Returns the network of an IP address in CIDR form. An IPv4 address written as IPv6 (`::ffff:192.0.2.1`) is IPv4. A
 * port after the address (`192.0.2.1:4711`, `[2001:db8::1]:4711`) is dropped, because some proxies forward it. Any
 * other text gives `unknown`. Clients with such texts count as one client, so that a proxy that forwards nonsense opens
 * no gap.
 *
 * @example
 * networkOf('2001:db8:1:2:3::9', { v4: 32, v6: 64 }); // '2001:db8:1:2::/64'
 */
export function networkOf(text: string | undefined, { v4, v6 }: PrefixLength): string {
  // Every request calls this several times, and most requests come from a plain IPv4 address.
  if (text !== undefined && isIPv4(text)) return v4NetworkOf(text.split('.').map(Number), v4);
  const { groups } = withPort.exec(text ?? '') ?? {};
  const address = groups?.v4 ?? groups?.v6 ?? text;
  if (address === undefined || !ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return v4NetworkOf(parsed.toByteArray(), v4);
  return `${ipaddr.fromByteArray(masked(parsed.toByteArray(), v6)).toString()}/${v6}`;
}

/** Returns the network of a client for the audit log. */
export function loggedNetwork(address: string | undefined): string {
  return networkOf(address, loggedPrefix);
}

function v4NetworkOf(bytes: readonly number[], length: number): string {
  return `${masked(bytes, length).join('.')}/${length}`;
}

/** Returns the bytes with all bits after the first `length` set to zero. */
function masked(bytes: readonly number[], length: number): number[] {
  return bytes.map((byte, index) => byte & (0xff00 >> Math.min(8, Math.max(0, length - index * 8))));
}
