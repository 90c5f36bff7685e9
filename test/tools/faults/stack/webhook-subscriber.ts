import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type RegisteredEvent, registeredTopic } from '@auth-account/contracts';
import type { AuthEvent } from '@auth-account/contracts/events';
import { Webhook } from 'standardwebhooks';

/**
 * `hang`: it accepts requests and never answers. `fail`: it accepts them and answers 500. `slow`: 204 after a second.
 */
export type SubscriberMood = 'good' | 'slow' | 'hang' | 'fail';

/** A webhook that stores its events by their id, as a subscriber does that applies each effect once. */
export interface WebhookSubscriber {
  readonly name: string;
  /** Its entry in `EVENT_SUBSCRIBERS`. */
  readonly configuration: object;
  /** Id of a registration event → its content, and the number of deliveries. */
  readonly received: ReadonlyMap<string, ReceivedEvent>;
  setMood(mood: SubscriberMood): void;
  close(): Promise<void>;
}

export interface ReceivedEvent {
  readonly userId: string;
  readonly data: RegisteredEvent['data'];
  deliveries: number;
}

const slowMs = 1_000;

export async function startWebhookSubscriber(name: string): Promise<WebhookSubscriber> {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const webhook = new Webhook(secret);
  const received = new Map<string, ReceivedEvent>();
  const held = new Set<ServerResponse>();
  let mood: SubscriberMood = 'good';

  function keep({ id, type, subject, data }: AuthEvent): void {
    if (type !== registeredTopic) return;
    const known = received.get(id);
    if (known === undefined) received.set(id, { userId: subject, data, deliveries: 1 });
    else known.deliveries += 1;
  }

  function answer(response: ServerResponse): void {
    if (mood === 'hang') {
      held.add(response);
      response.once('close', () => held.delete(response));
    } else if (mood === 'slow') setTimeout(() => response.writeHead(204).end(), slowMs);
    else response.writeHead(mood === 'fail' ? 500 : 204).end();
  }

  /** Signatures of a worker whose clock is minutes off are refused by any subscriber: the event is sent again later. */
  function take(body: string, headers: Record<string, string>, response: ServerResponse): void {
    try {
      keep(webhook.verify(body, headers) as AuthEvent);
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
    configuration: { name, kind: 'webhook', url, secret },
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
