import { type SmtpSubscriber, smtpServerOf } from '@auth-account/config';
import type * as Type from '@auth-account/contracts/type';
import { type Finding, failed, ok } from './finding.ts';

const timeoutMs = 5_000;

type MailSubscriber = Type.Static<typeof SmtpSubscriber>;

/** Settings of the worker. Only those of mail servers are needed, and the kind of the others. */
export interface SubscriberSettings {
  readonly EVENT_SUBSCRIBERS: readonly (MailSubscriber | { readonly kind: 'webhook' | 'queue' })[];
}

/** Connects to the mail servers of EVENT_SUBSCRIBERS and logs in, as the worker does. Sends nothing. */
export async function checkMail({ EVENT_SUBSCRIBERS }: SubscriberSettings): Promise<Finding[]> {
  const servers = EVENT_SUBSCRIBERS.flatMap((subscriber) => (subscriber.kind === 'smtp' ? [subscriber] : []));
  if (servers.length === 0) return [];
  const { createTransport } = await import('nodemailer');
  return Promise.all(servers.map((server) => checkServer(server, createTransport)));
}

async function checkServer(
  subscriber: MailSubscriber,
  createTransport: typeof import('nodemailer').createTransport,
): Promise<Finding> {
  const check = `mail server ${subscriber.name}`;
  const server = smtpServerOf(subscriber);
  const limits = { connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, dnsTimeout: timeoutMs };
  const transport = createTransport({ ...server, ...limits, socketTimeout: timeoutMs });
  try {
    await transport.verify();
    return ok(check, `${server.host}:${server.port} takes mails`);
  } catch (error) {
    const { response, code } = error as { readonly response?: string; readonly code?: string };
    const reason = response === undefined ? `no answer: ${code}` : `answered ${response}`;
    const fix = `See url, user, password and ehlo_name (now ${server.name}) of the subscriber in EVENT_SUBSCRIBERS, STARTTLS, and the NetworkPolicy.`;
    return failed(check, `${server.host}:${server.port} ${reason}`, fix);
  } finally {
    transport.close();
  }
}
