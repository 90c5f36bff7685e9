import { randomBytes } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { RegisteredEvent } from '@auth-account/contracts';
import { waitUntil } from '@auth-account/local-stack';
import { Webhook } from 'standardwebhooks';
import { listen } from '../listen.ts';

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The delivered event, whose signature was verified. */
  readonly event: RegisteredEvent;
  /** `id` of the event. */
  readonly id: string;
  /** `performance.now()` when all of it was received. */
  readonly at: number;
}

/** A webhook subscriber on 127.0.0.1 that records its deliveries. */
export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

export type Answer = (response: ServerResponse, received: Received) => void;

/** Creates an answer with this status and no body. */
export function status(code: number, headers: Readonly<Record<string, string>> = {}): Answer {
  return (response) => {
    response.writeHead(code, headers).end();
  };
}

/** Creates an answer that is `first` for the first delivery and `then` for all others, however late the test looks. */
export function firstThen(first: Answer, then: Answer): Answer {
  let count = 0;
  return (response, received) => {
    count += 1;
    (count === 1 ? first : then)(response, received);
  };
}

/** Returns the milliseconds between the first two deliveries. */
export function firstPause({ received: [first, second] }: Pick<Receiver, 'received'>): number {
  return (second?.at ?? Number.NaN) - (first?.at ?? Number.NaN);
}

/** Never answers. */
export const hang: Answer = () => undefined;

/** Starts a receiver. A delivery without a valid signature (Standard Webhooks) is answered 401 and not kept. */
export async function startReceiver(name: string, initially: Answer = status(204)) {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const webhook = new Webhook(secret);
  const received: Received[] = [];
  let answer = initially;
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      let event: RegisteredEvent;
      try {
        event = webhook.verify(body, request.headers as Record<string, string>) as RegisteredEvent;
      } catch {
        response.writeHead(401).end();
        return;
      }
      const delivery = { headers: request.headers, body, event, id: event.id, at: performance.now() };
      received.push(delivery);
      answer(response, delivery);
    });
  });
  const { url, close } = await listen(server);
  return {
    name,
    /** The receiver's item of EVENT_SUBSCRIBERS. */
    subscriber: { name, kind: 'webhook', url: `${url}/events`, secret } as const,
    received,
    ids: () => received.map(({ id }) => id),
    /** Resolves with the first delivery about the user. */
    async waitFor(userId: string): Promise<Received> {
      const isIt = ({ event }: Received) => event.subject === userId;
      await waitUntil(async () => received.some(isIt), { what: `an event about ${userId}`, timeoutMs: 60_000 });
      return received.find(isIt) as Received;
    },
    /** Sets the answer to deliveries from now on. */
    answerWith(next: Answer) {
      answer = next;
    },
    close,
  };
}
