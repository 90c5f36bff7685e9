import { Cluster, type Redis } from 'ioredis';

/** A connection to Redis, or to all nodes of a Redis Cluster. */
export type RedisClient = Redis | Cluster;

/** Returns true for a Redis Cluster, whose commands go to the node that holds the key's slot. */
export function isCluster(redis: RedisClient): redis is Cluster {
  return redis instanceof Cluster;
}

/** Returns true if a promoted replica may replace this server while the client stays connected. */
export function isReplicated(redis: RedisClient): boolean {
  return isCluster(redis) || Boolean(redis.options.sentinels);
}

/** Returns all masters of a cluster, or the only server, for commands that all of these servers must answer. */
export function primariesOf(redis: RedisClient): Redis[] {
  return isCluster(redis) ? redis.nodes('master') : [redis];
}

/**
 * Returns the publish command. In a cluster, sharded channels stay on one node, but plain channels go to every node.
 */
export function publishCommandOf(redis: RedisClient): 'SPUBLISH' | 'PUBLISH' {
  return isCluster(redis) ? 'SPUBLISH' : 'PUBLISH';
}

/** Publishes a message; in a cluster, to the node that holds the channel's slot. The message may be lost. */
export async function publish(redis: RedisClient, channel: string, message: string): Promise<void> {
  await (isCluster(redis) ? redis.spublish(channel, message) : redis.publish(channel, message));
}
