import type { Cluster, Redis } from 'ioredis';
import { isCluster, type RedisClient } from './redis-client.ts';

export interface SubscriptionDeps {
  /** A connection for this subscription alone, with `subscriberOptions`. The caller closes it. */
  readonly redis: RedisClient;
  /** Channels, which must all have the same hash tag. */
  readonly channels: readonly [string, ...string[]];
  readonly onMessage: (channel: string, message: string) => void;
  /** Called each time messages begin to arrive (again). Messages published before that are lost. */
  readonly onSubscribed: () => void;
  /**
   * Called if subscribing fails or the subscription is lost. Subscribing is retried automatically. Until it succeeds,
   * each error message is passed on only once.
   */
  readonly onError: (error: unknown) => void;
  /** Milliseconds between two renewals of the subscription, which detect a dead connection. */
  readonly renewalMs?: number;
}

export interface Subscription {
  isSubscribed(): boolean;
  /** Ends the subscription. Must be called before the connection is closed. */
  stop(): void;
}

/** Pause before another try, in milliseconds. */
const retryMs = 100;
const defaultRenewalMs = 5_000;

/**
 * Subscribes to channels and stays subscribed. On a cluster these are sharded channels (SSUBSCRIBE). The subscription
 * is made at the node that holds their slot, and made again elsewhere if the slot moves or the node is lost.
 */
export function createSubscription(deps: SubscriptionDeps): Subscription {
  return isCluster(deps.redis) ? subscribeToShard(deps.redis, deps) : subscribeToServer(deps.redis, deps);
}

/**
 * Subscribes at one server. If a renewal gets no answer, `socketTimeout` ends the connection, and the next connection
 * subscribes again.
 */
function subscribeToServer(redis: Redis, deps: SubscriptionDeps): Subscription {
  const { channels, onMessage, onSubscribed, renewalMs = defaultRenewalMs } = deps;
  const failures = createFailureReport(deps);
  let isSubscribed = false;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  function renewLater(): void {
    clearTimeout(timer);
    if (!isStopped && redis.status === 'ready') timer = setTimeout(attempt, renewalMs);
  }

  function attempt(): void {
    redis
      .subscribe(...channels)
      .then(
        () => {
          if (isStopped || isSubscribed) return;
          isSubscribed = true;
          failures.forget();
          onSubscribed();
        },
        (error: unknown) => {
          if (isStopped) return;
          isSubscribed = false;
          failures.report(error);
        },
      )
      .finally(renewLater);
  }

  redis.on('message', onMessage);
  redis.on('close', () => {
    isSubscribed = false;
    clearTimeout(timer);
  });
  redis.on('ready', attempt);
  return {
    isSubscribed: () => isSubscribed,
    stop() {
      isStopped = true;
      isSubscribed = false;
      clearTimeout(timer);
    },
  };
}

/** Reports each error message only once until `forget` is called, because there can be ten failed attempts a second. */
function createFailureReport({ onError }: Pick<SubscriptionDeps, 'onError'>) {
  const reported = new Set<string>();
  return {
    report(error: unknown): void {
      const message = String(error);
      if (reported.has(message)) return;
      reported.add(message);
      onError(error);
    },
    forget: () => reported.clear(),
  };
}

/**
 * Subscribes at a cluster. ioredis can follow sharded channels itself (`shardedSubscribers`), but reports its
 * subscribers as ready before the node has answered. A caller that catches up on missed changes must know when it is
 * subscribed. So this opens one connection to one node at a time, renews the subscription, and drops the connection at
 * its first failure.
 */
function subscribeToShard(cluster: Cluster, deps: SubscriptionDeps): Subscription {
  const { channels, onMessage, onSubscribed, renewalMs = defaultRenewalMs } = deps;
  const failures = createFailureReport(deps);
  let node: Redis | undefined;
  let isSubscribed = false;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  function giveUp(failed: Redis | undefined, error: unknown): void {
    if (isStopped || failed !== node) return;
    node = undefined;
    if (failed?.status !== 'end') failed?.disconnect();
    const named = movedTo(error);
    // A redirection is no failure, but part of finding the node.
    if (isSubscribed || named === undefined) failures.report(error);
    isSubscribed = false;
    clearTimeout(timer);
    timer = setTimeout(() => attempt(named), retryMs);
  }

  function renew(current: Redis): void {
    timer = setTimeout(() => {
      current.ssubscribe(...channels).then(
        () => {
          if (current === node) renew(current);
        },
        (error: unknown) => giveUp(current, error),
      );
    }, renewalMs);
  }

  function attempt(named?: Address): void {
    if (isStopped) return;
    const current = connect(cluster, named);
    node = current;
    if (current === undefined) {
      giveUp(undefined, new Error('no node of the cluster is known'));
      return;
    }
    const causeOfLoss = watchLoss(current, (error) => giveUp(current, error));
    current.on('smessage', onMessage);
    current.ssubscribe(...channels).then(
      () => {
        if (current !== node) return;
        isSubscribed = true;
        failures.forget();
        renew(current);
        onSubscribed();
      },
      (error: unknown) => giveUp(current, causeOfLoss() ?? error),
    );
  }

  attempt();
  return {
    isSubscribed: () => isSubscribed,
    stop() {
      isStopped = true;
      isSubscribed = false;
      clearTimeout(timer);
      const last = node;
      node = undefined;
      last?.disconnect();
    },
  };
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/** Connects to the node that a redirection named, or to any node. Undefined if no node is known. */
function connect(cluster: Cluster, named?: Address): Redis | undefined {
  const masters = cluster.nodes('master');
  const known = masters[Math.floor(Math.random() * masters.length)];
  return known?.duplicate({ ...named, ...dedicated });
}

/** Calls `onLost` once the node is unusable. Returns the connection's last error, if it had one. */
function watchLoss(node: Redis, onLost: (error: unknown) => void): () => unknown {
  let cause: unknown;
  node.on('error', (error) => {
    cause = error; // `end` follows
  });
  node.on('end', () => onLost(cause ?? new Error('the connection to the node was lost')));
  node.on('moved', () => onLost(new Error('the slot has moved')));
  return () => cause;
}

/** Options of a connection that does not wait for a failed node, because another node will take over its slots. */
const dedicated = { lazyConnect: false, enableOfflineQueue: true, retryStrategy: null, commandTimeout: 2_000 } as const;

/** Reads the address from a redirection: `MOVED 866 10.0.0.7:6379`. */
function movedTo(error: unknown): Address | undefined {
  const [, host, port] = /^MOVED \d+ (.+):(\d+)$/.exec(error instanceof Error ? error.message : '') ?? [];
  return host === undefined ? undefined : { host, port: Number(port) };
}
