import { Cluster, type Redis } from 'ioredis';

/** A connection to Redis, or to all nodes of a Redis Cluster. */
export type RedisClient = Redis | Cluster;

/** Is it a Redis Cluster? Its commands go to the node that holds the key's slot. */
export function isCluster(redis: RedisClient): redis is Cluster {
  return redis instanceof Cluster;
}

/** May another server, a replica that was promoted, answer for this one without the connection's being lost? */
export function isReplicated(redis: RedisClient): boolean {
  return isCluster(redis) || Boolean(redis.options.sentinels);
}

/** The servers to ask for what each says of itself: all masters of a cluster, or the one there is. */
export function primariesOf(redis: RedisClient): Redis[] {
  return isCluster(redis) ? redis.nodes('master') : [redis];
}

/** Pub/sub's command: a cluster's sharded channels stay on one node, its plain ones go to every node. */
export function publishCommandOf(redis: RedisClient): 'SPUBLISH' | 'PUBLISH' {
  return isCluster(redis) ? 'SPUBLISH' : 'PUBLISH';
}

/** Publishes a message, to the node that holds the channel's slot where it is a cluster. A hint: it may be lost. */
export async function publish(redis: RedisClient, channel: string, message: string): Promise<void> {
  await (isCluster(redis) ? redis.spublish(channel, message) : redis.publish(channel, message));
}
