/** Address of Redis, parsed from `REDIS_URL`. */
export interface RedisAddress {
  readonly kind: 'single' | 'sentinel' | 'cluster';
  readonly isTls: boolean;
  /** The server itself, some nodes of a cluster, or the sentinels. There is at least one. */
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** Number of the database; 0 on a cluster. */
  readonly db: number;
  /** Sentinel's name of the group of servers. */
  readonly sentinelName: string | undefined;
}

const form = /^redis(s?)(?:\+(cluster|sentinel))?:\/\/(?:([^@/]*)@)?([^/?#]+)(?:\/([^?#@]*))?$/;
const nodeForm = /^(?:\[([0-9a-f:.]+)\]|([^[\]:@\s]+))(?::(\d{1,5}))?$/i;
const highestPort = 65_535;
const defaultPorts = { single: 6379, sentinel: 26_379, cluster: 6379 } as const;

/**
 * Reads a URL of one of these forms, with `rediss` instead of `redis` for TLS. User name and password are
 * percent-encoded.
 *
 * - `redis://[user:password@]host[:port][/db]`
 * - `redis+cluster://[user:password@]host[:port][,host[:port]…]`
 * - `redis+sentinel://[user:password@]host[:port][,host[:port]…]/name[/db]`: the hosts are the sentinels, and the user
 *   is a user of the servers behind them
 *
 * Throws a `TypeError` that names the fault and never repeats the URL, because the URL may hold a password.
 */
export function parseRedisAddress(url: string): RedisAddress {
  const [, tls, mode, credentials, hosts = '', path = ''] = form.exec(url) ?? [];
  if (hosts === '') throw new TypeError('REDIS_URL is no redis://, redis+cluster:// or redis+sentinel:// URL');
  const kind = (mode ?? 'single') as RedisAddress['kind'];
  const nodes = hosts.split(',').map((text) => parseNode(text, defaultPorts[kind]));
  if (kind === 'single' && nodes.length > 1) throw new TypeError('REDIS_URL: redis:// has one host');
  const segments = path === '' ? [] : path.split('/').map(decodeURIComponent);
  const sentinelName = kind === 'sentinel' ? segments.shift() : undefined;
  if (kind === 'sentinel' && !sentinelName) throw new TypeError('REDIS_URL: redis+sentinel:// ends with /name');
  const [db = '0', ...others] = segments;
  if (!/^\d{1,5}$/.test(db) || others.length > 0) throw new TypeError('REDIS_URL: the database is no number');
  if (kind === 'cluster' && db !== '0') throw new TypeError('REDIS_URL: a cluster has database 0 only');
  return { kind, isTls: tls === 's', nodes, ...parseCredentials(credentials), db: Number(db), sentinelName };
}

function parseNode(text: string, defaultPort: number): RedisAddress['nodes'][number] {
  const [, address, name, port] = nodeForm.exec(text.trim()) ?? [];
  const host = address ?? name;
  if (host === undefined) throw new TypeError('REDIS_URL: a host is malformed');
  if (Number(port ?? 0) > highestPort) throw new TypeError('REDIS_URL: a port is too high');
  return { host, port: port === undefined ? defaultPort : Number(port) };
}

/** Parses `user:password`, `:password`, or only `user` for ACL users without a password. */
function parseCredentials(text = ''): Pick<RedisAddress, 'username' | 'password'> {
  const colon = text.indexOf(':');
  const [username, password] = colon < 0 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 1)];
  return { username: decodeURIComponent(username) || undefined, password: decodeURIComponent(password) || undefined };
}
