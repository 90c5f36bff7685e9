import type { AuthEvent } from '@auth-account/contracts/events';
import { carryingHeaders } from '@auth-account/telemetry';
import { Webhook } from 'standardwebhooks';
import { type Dispatcher, Pool } from 'undici';
import { secretsOf, type WebhookSubscriber } from '../config.ts';
import { DeliveryError } from './delivery-error.ts';

export interface WebhookOptions {
  readonly subscriber: Pick<WebhookSubscriber, 'url' | 'secret' | 'secrets'>;
  /** Limit for the whole attempt, including the connection. */
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  /** Limit for simultaneous connections. */
  readonly connections: number;
  readonly now: () => Date;
  /** Returns the event's secret, if it has one, in a form that only the webhook can read. */
  readonly sealSecret?: ((event: AuthEvent) => Promise<string | undefined>) | undefined;
}

export interface WebhookSender {
  /** Delivers one event and returns the answer's status. Throws {@link DeliveryError} if the event was not accepted. */
  send(event: AuthEvent, stop: AbortSignal): Promise<number>;
  /** Closes its connections; deliveries under way fail. */
  close(): Promise<void>;
}

/** Limit for the headers of an answer, in bytes. Longer headers are an error. */
const headerLimit = 16 * 1_024;

/**
 * Limits for reading an answer's body, in bytes and in ms. The body is read so that the connection can be kept. Past
 * the limits the connection is closed.
 */
const bodyLimit = 64 * 1_024;
const bodyPatienceMs = 1_000;

/**
 * Sends to a webhook. It POSTs the CloudEvent in structured mode, signed according to Standard Webhooks with each of
 * the webhook's secrets. The message id is the event's id, so that the webhook can recognize a repeated delivery. Every
 * 2xx is success; a redirect is not followed. Webhooks share no connections.
 */
export function createWebhookSender(options: WebhookOptions): WebhookSender {
  const { subscriber, timeoutMs, connectTimeoutMs, connections, now, sealSecret } = options;
  const { origin, pathname, search } = new URL(subscriber.url);
  const signers = secretsOf(subscriber).map((secret) => new Webhook(secret));
  const pool = new Pool(origin, {
    connections,
    connect: { timeout: connectTimeoutMs },
    maxHeaderSize: headerLimit,
    // The time-out of the whole attempt applies instead.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  function headersOf(event: AuthEvent, body: string): Record<string, string> {
    const at = now();
    return {
      'content-type': 'application/cloudevents+json; charset=utf-8',
      'user-agent': 'auth-account-worker',
      ...carryingHeaders({ requestId: event.requestid, traceparent: event.traceparent }),
      'webhook-id': event.id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': signers.map((signer) => signer.sign(event.id, at, body)).join(' '),
    };
  }

  async function request(event: AuthEvent, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const secret = await sealSecret?.(event);
    const body = JSON.stringify(secret === undefined ? event : { ...event, data: { ...event.data, secret } });
    const headers = headersOf(event, body);
    try {
      return await pool.request({ method: 'POST', path: `${pathname}${search}`, headers, body, signal });
    } catch (error) {
      throw new DeliveryError(`no answer: ${reasonOf(error)}`, { cause: error });
    }
  }

  return {
    async send(event, stop) {
      const {
        statusCode: status,
        headers,
        body,
      } = await request(event, AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)]));
      await drain(body);
      // The client returns final answers only, from 200 on.
      if (status < 300) return status;
      const mayAsk = status === 429 || status === 503;
      const asked = mayAsk ? retryAfterMs(headers['retry-after'], now()) : undefined;
      throw new DeliveryError(`answered ${status}`, { status, retryAfterMs: asked });
    },
    close: () => pool.destroy(),
  };
}

/** Returns the system's or the client's code, such as ECONNREFUSED, if the error has one; else its message. */
function reasonOf(error: unknown): string {
  const { code, message } = Object(error) as { readonly code?: unknown; readonly message?: unknown };
  return String(typeof code === 'string' ? code : (message ?? error));
}

async function drain(body: Dispatcher.ResponseData['body']): Promise<void> {
  try {
    await body.dump({ limit: bodyLimit, signal: AbortSignal.timeout(bodyPatienceMs) });
  } catch {
    // The status line was the answer, so the rest of a body that is too long or too slow does not matter.
  }
}

/**
 * The three forms of an HTTP date (RFC 9110, section 5.6.7). They are checked because `Date.parse` alone accepts many
 * texts that are no date.
 */
const time = '\\d{2}:\\d{2}:\\d{2}';
const dateForms = [
  new RegExp(`^[A-Z][a-z]{2}, \\d{2} [A-Z][a-z]{2} \\d{4} ${time} GMT$`),
  new RegExp(`^[A-Z][a-z]+day, \\d{2}-[A-Z][a-z]{2}-\\d{2} ${time} GMT$`),
  new RegExp(`^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \\d]\\d ${time} \\d{4}$`),
];

/**
 * Reads the header `Retry-After` (RFC 9110, section 10.2.3: seconds or a date), as milliseconds from `now`; undefined
 * if it is missing, doubled or malformed.
 */
export function retryAfterMs(header: string | string[] | undefined, now: Date): number | undefined {
  if (typeof header !== 'string') return undefined;
  if (/^\d+$/.test(header)) return Number(header) * 1_000;
  if (!dateForms.some((form) => form.test(header))) return undefined;
  const date = Date.parse(header.endsWith(' GMT') ? header : `${header} GMT`);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime());
}
