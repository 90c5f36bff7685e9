import dns, { type LookupAddress, type LookupOptions } from 'node:dns';

type Callback = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

/**
 * Resolves names as `AGENT_HOSTS` says, for an agent outside the cluster whose DNS does not know them.
 * `.example.test=192.0.2.1` gives every name with this ending the address. Sockets, TLS and `fetch` all use
 * `dns.lookup`.
 */
export function resolveHosts(hosts = process.env.AGENT_HOSTS ?? ''): void {
  const known = hosts.split(',').flatMap((pair): [string, string][] => {
    const [ending, address] = pair.split('=');
    return ending && address ? [[ending, address]] : [];
  });
  if (known.length === 0) return;
  const original = dns.lookup;
  const lookup = (name: string, options: LookupOptions, callback: Callback) => {
    const address = known.find(([ending]) => name.endsWith(ending))?.[1];
    if (address === undefined) original(name, options as never, callback as never);
    else if (options.all) callback(null, [{ address, family: 4 }]);
    else callback(null, address, 4);
  };
  dns.lookup = lookup as typeof dns.lookup;
}
