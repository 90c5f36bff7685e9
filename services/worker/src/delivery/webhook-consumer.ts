import type { WebhookSubscriber } from '../config.ts';
import { maximumRetryAfterMs } from './backoff.ts';
import { type AttemptDeps, createDeliverEvent, type SendEvent } from './deliver-event.ts';
import { type ConsumerOptions, createJobConsumer, type HoldableConsumer } from './event-consumers.ts';
import type { Recovery } from './recovery.ts';
import { createWebhookSender, type WebhookOptions } from './webhook.ts';

export interface WebhookConsumerDeps extends AttemptDeps {
  readonly sealSecret?: WebhookOptions['sealSecret'] | undefined;
  readonly recovery: Pick<Recovery, 'onTaken'>;
}

/** Reason to hold the consumer until it is known whether the webhook is suspended. */
const unknown = 'it is not known whether it is suspended';

/** A webhook's consumer. */
export interface WebhookConsumer extends HoldableConsumer {
  setSuspended(isSuspended: boolean): void;
}

/**
 * Wires the consumer of a webhook's queues, one per channel. It takes no job until {@link WebhookConsumer.setSuspended}
 * has been called, and none while the webhook is suspended. After a 429 with `Retry-After` this process also waits for
 * that time.
 */
export function createWebhookConsumer(
  queues: readonly ConsumerOptions[],
  webhook: WebhookSubscriber,
  deps: WebhookConsumerDeps,
): WebhookConsumer {
  const { timeoutMs, connectTimeoutMs, concurrency, now } = deps;
  const sender = createWebhookSender({
    subscriber: webhook,
    timeoutMs,
    connectTimeoutMs,
    connections: concurrency * queues.length,
    now,
    sealSecret: deps.sealSecret,
  });
  let throttle: NodeJS.Timeout | undefined;

  function onThrottled(ms: number): void {
    clearTimeout(throttle);
    hold('throttled', true);
    throttle = setTimeout(() => hold('throttled', false), Math.min(ms, maximumRetryAfterMs));
  }

  const send: SendEvent = async (event, stop) => {
    const status = await sender.send(event, stop);
    deps.recovery.onTaken();
    return status;
  };
  const deliver = createDeliverEvent({ ...deps, subscriber: webhook.name, send, onThrottled });
  const consumers = queues.map((queue) => createJobConsumer(queue, deliver, { concurrency, heldFor: [unknown] }));
  function hold(reason: string, isHeld: boolean): void {
    for (const consumer of consumers) consumer.hold(reason, isHeld);
  }

  return {
    start() {
      for (const consumer of consumers) consumer.start();
    },
    abort() {
      for (const consumer of consumers) consumer.abort();
    },
    hold,
    setSuspended(isSuspended) {
      hold('suspended', isSuspended);
      hold(unknown, false);
    },
    async close() {
      await Promise.all(consumers.map((consumer) => consumer.close()));
      // The timer is cleared only now, because an attempt that was under way may have set it.
      clearTimeout(throttle);
      await sender.close();
    },
  };
}
