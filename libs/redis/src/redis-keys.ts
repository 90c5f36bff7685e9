/**
 * Names of keys and channels in Redis. All keys that a script uses together have the same hash tag, so that they are on
 * one node of a cluster.
 */
export interface RedisKeys {
  /** Pub/sub channel of commands to the gateways. */
  readonly commands: string;
  /** Pub/sub channel of messages to the apps. Internal services have permissions for it. */
  readonly messages: string;
  /** Pub/sub channel of this service's own messages to the apps. No other service has permissions for it. */
  readonly ownMessages: string;
  /** The deny list's entry of a session. */
  denied(sessionId: string): string;
  /** Sorted set: session → time at which it was denied, in milliseconds of Redis's clock. */
  readonly revocations: string;
  /** Present if the deny list is complete. Its value names the Redis server on which the list was completed. */
  readonly denyListComplete: string;
  /**
   * Present during the rebuild of the deny list with that token. If Redis is emptied, the key is lost, and the rebuild
   * becomes invalid.
   */
  denyListRebuild(token: string): string;
  /** Key that is written to find out whether Redis accepts writes. */
  readonly writeProbe: string;
  /** Counter that numbers the connections of all gateways. */
  readonly streamNumber: string;
  /** Redis stream that records, for about a day, which push streams the gateways closed on a command. */
  readonly closeRecords: string;
  /** Sorted set: id of a server key → latest time at which an api held it, in milliseconds since the epoch. */
  readonly heldKeys: string;
  /** Sorted set: name of a process → its latest report, in milliseconds of Redis's clock. */
  readonly processes: string;
  /** Report of a process, as JSON. */
  processReport(name: string): string;
  /** Prefix of a limit's keys. A colon and the limited network or user follow. */
  limit(name: string): string;
  /** BullMQ's `prefix`. */
  readonly queuePrefix: string;
}

/** Returns the names under a deployment's `KEY_PREFIX`. */
export function redisKeys(prefix: string): RedisKeys {
  const tag = `{${prefix}}`;
  return {
    commands: `${tag}:commands`,
    messages: `${tag}:messages`,
    ownMessages: `${tag}:own-messages`,
    denied: (sessionId) => `${tag}:denied:${sessionId}`,
    revocations: `${tag}:revocations`,
    denyListComplete: `${tag}:deny-list-complete`,
    denyListRebuild: (token) => `${tag}:deny-list-rebuild:${token}`,
    writeProbe: `${tag}:write-probe`,
    streamNumber: `${tag}:stream-number`,
    closeRecords: `${tag}:close-records`,
    heldKeys: `${tag}:held-keys`,
    processes: `${tag}:processes`,
    processReport: (name) => `${tag}:process:${name}`,
    limit: (name) => `${tag}:limit:${name}`,
    queuePrefix: `{${prefix}-queue}`,
  };
}
