import type { RegisteredEvent } from '@auth-account/contracts';
import { Webhook } from 'standardwebhooks';
import type { WebhookSubscriber } from '../config.ts';
import { DeliveryError } from './delivery-error.ts';
import { retryAfterMs } from './retry-after.ts';

/** Delivers one event; throws {@link DeliveryError} where the subscriber did not take it. */
export type SendEvent = (event: RegisteredEvent, stop: AbortSignal) => Promise<void>;

export interface WebhookOptions {
  readonly subscriber: Pick<WebhookSubscriber, 'url' | 'secret'>;
  readonly timeoutMs: number;
  readonly now: () => Date;
}

/** Bytes of an answer's body that are read, to keep the connection in use; past that it is given up. */
const bodyLimit = 64 * 1_024;

/**
 * Makes the delivery to a webhook: POST of the CloudEvent in structured mode, signed by Standard Webhooks with the
 * event's id as message id, so that a repeated delivery shows. Every 2xx is success; a redirect is not followed.
 */
export function createWebhookSender({ subscriber: { url, secret }, timeoutMs, now }: WebhookOptions): SendEvent {
  const webhook = new Webhook(secret);

  function headersOf(event: RegisteredEvent, body: string): Record<string, string> {
    const at = now();
    return {
      'Content-Type': 'application/cloudevents+json; charset=utf-8',
      'User-Agent': 'auth-account-worker',
      'X-Request-ID': event.requestid,
      ...(event.traceparent === undefined ? {} : { traceparent: event.traceparent }),
      'webhook-id': event.id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': webhook.sign(event.id, at, body),
    };
  }

  return async (event, stop) => {
    const body = JSON.stringify(event);
    const signal = AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)]);
    const request = { method: 'POST', redirect: 'manual', headers: headersOf(event, body), body, signal } as const;
    const response = await fetch(url, request).catch((error: unknown) => {
      throw new DeliveryError(`no answer: ${reasonOf(error)}`, { cause: error });
    });
    await drain(response);
    if (response.ok) return;
    const mayAsk = response.status === 429 || response.status === 503;
    const asked = mayAsk ? retryAfterMs(response.headers.get('retry-after'), now()) : undefined;
    throw new DeliveryError(`answered ${response.status}`, { retryAfterMs: asked });
  };
}

/** `fetch` hides what went wrong in its error's cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error as { cause?: { code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? error.message;
}

async function drain(response: Response): Promise<void> {
  let read = 0;
  try {
    for await (const chunk of response.body ?? []) {
      read += chunk.byteLength;
      if (read > bodyLimit) break; // leaving the loop cancels the rest
    }
  } catch {
    // The status line was the answer: a body that breaks off changes nothing about it.
  }
}
