/**
 * Names in Redis. All that a script touches together carries one hash tag, so that it lies on one node of a cluster.
 */
export interface RedisKeys {
  /** Pub/sub channel of commands to the gateways. */
  readonly commands: string;
  /** Pub/sub channel of messages to the apps, for which sibling services have rights. */
  readonly messages: string;
  /** What the deny list says of a session. */
  denied(sessionId: string): string;
  /** Sorted set: session → when it was denied, in milliseconds of Redis's clock. */
  readonly revocations: string;
  /** Says that the deny list is complete; its value names the Redis server that it was written to. */
  readonly denyListComplete: string;
  /** Stands while that rebuild of the deny list is under way: whatever empties Redis takes it away too. */
  denyListRebuild(token: string): string;
  /** Counter that numbers the connections of all gateways. */
  readonly streamNumber: string;
  /** Redis stream: which streams the gateways closed on a command, for about a day. */
  readonly closeRecords: string;
  /** What a limit is called; whom it holds for follows after a colon. */
  limit(name: string): string;
  /** BullMQ's `prefix`. */
  readonly queuePrefix: string;
}

/** The names under a deployment's `KEY_PREFIX`. */
export function redisKeys(prefix: string): RedisKeys {
  const tag = `{${prefix}}`;
  return {
    commands: `${tag}:commands`,
    messages: `${tag}:messages`,
    denied: (sessionId) => `${tag}:denied:${sessionId}`,
    revocations: `${tag}:revocations`,
    denyListComplete: `${tag}:deny-list-complete`,
    denyListRebuild: (token) => `${tag}:deny-list-rebuild:${token}`,
    streamNumber: `${tag}:stream-number`,
    closeRecords: `${tag}:close-records`,
    limit: (name) => `${tag}:limit:${name}`,
    queuePrefix: `{${prefix}-queue}`,
  };
}
