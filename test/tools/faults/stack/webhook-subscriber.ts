import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { AuthEvent } from '@auth-account/contracts/events';
import { Webhook } from 'standardwebhooks';
import type { FilledMailbox } from './mailbox.ts';

/** Behaviour of a webhook. `hang` never answers, `fail` answers 500, and `slow` answers 204 after a second. */
export type SubscriberMood = 'good' | 'slow' | 'hang' | 'fail';

/** A webhook that stores its events by their id, like a subscriber that applies each effect once. */
export interface WebhookSubscriber {
  readonly name: string;
  /** The webhook's entry in `EVENT_SUBSCRIBERS`. */
  readonly configuration: object;
  /** True if the webhook receives email addresses and codes. */
  readonly hasKey: boolean;
  /** The events by id, each with its number of deliveries. */
  readonly received: ReadonlyMap<string, ReceivedEvent>;
  setMood(mood: SubscriberMood): void;
  close(): Promise<void>;
}

export interface ReceivedEvent {
  readonly event: AuthEvent;
  deliveries: number;
}

const slowMs = 1_000;

/** Starts a webhook. With a mailbox it has its own key, and receives what is mailed. */
export async function startWebhookSubscriber(name: string, mailbox?: FilledMailbox): Promise<WebhookSubscriber> {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const webhook = new Webhook(secret);
  const received = new Map<string, ReceivedEvent>();
  const held = new Set<ServerResponse>();
  let mood: SubscriberMood = 'good';

  async function keep(event: AuthEvent): Promise<void> {
    const known = received.get(event.id);
    if (known === undefined) received.set(event.id, { event, deliveries: 1 });
    else known.deliveries += 1;
    await mailbox?.open(event);
  }

  function answer(response: ServerResponse): void {
    if (mood === 'hang') {
      held.add(response);
      response.once('close', () => held.delete(response));
    } else if (mood === 'slow') setTimeout(() => response.writeHead(204).end(), slowMs);
    else response.writeHead(mood === 'fail' ? 500 : 204).end();
  }

  /**
   * Handles a delivery. Like any subscriber it refuses signatures of a worker whose clock is minutes off, so the event
   * is sent again later.
   */
  async function take(body: string, headers: Record<string, string>, response: ServerResponse): Promise<void> {
    try {
      await keep(webhook.verify(body, headers) as AuthEvent);
    } catch {
      response.writeHead(401).end();
      return;
    }
    answer(response);
  }

  const server = createServer((request, response) => {
    text(request).then(
      (body) => take(body, request.headers as Record<string, string>, response),
      () => response.destroy(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`;
  return {
    name,
    configuration: { name, kind: 'webhook', url, secret, ...(mailbox && { encrypt_to: mailbox.encryptTo }) },
    hasKey: mailbox !== undefined,
    received,
    setMood(next) {
      mood = next;
      if (next !== 'hang') for (const response of held) response.destroy();
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
