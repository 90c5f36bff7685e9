import { type SmtpSubscriber, senderDomain, smtpServerOf } from '@auth-account/config';
import { createTransport } from 'nodemailer';
import { DeliveryError } from '../delivery/delivery-error.ts';
import type { MailContent } from './mail-templates.ts';

export interface Mail extends MailContent {
  readonly to: string;
  /** Id that stays the same when the mail is sent again. */
  readonly id: string;
}

export interface SmtpSenderOptions {
  readonly subscriber: Omit<SmtpSubscriber, 'name' | 'kind'>;
  /** Limit for a whole attempt, including the connection. */
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  /** Limit for simultaneous connections. */
  readonly connections: number;
}

export interface SmtpSender {
  /**
   * Sends a mail. Throws {@link DeliveryError}, which names neither the mail nor its recipient, if the server did not
   * accept the mail in time.
   */
  send(mail: Mail, stop: AbortSignal): Promise<void>;
  close(): void;
}

/** Sends mails over a pool of connections. */
export function createSmtpSender({ subscriber, ...limits }: SmtpSenderOptions): SmtpSender {
  const { timeoutMs, connectTimeoutMs, connections } = limits;
  const transport = createTransport({
    pool: true,
    maxConnections: connections,
    ...smtpServerOf(subscriber),
    connectionTimeout: connectTimeoutMs,
    greetingTimeout: connectTimeoutMs,
    dnsTimeout: connectTimeoutMs,
    socketTimeout: timeoutMs,
    // No part of a mail is read from a file or a URL.
    disableFileAccess: true,
    disableUrlAccess: true,
  });

  return {
    async send({ to, id, subject, text, html }, stop) {
      const given = AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)]);
      const ended = Promise.withResolvers<never>();
      const onAbort = () => ended.reject(new DeliveryError('no answer: the attempt was ended'));
      given.addEventListener('abort', onAbort, { once: true });
      const headers = { 'Auto-Submitted': 'auto-generated' };
      const messageId = `<${id}@${senderDomain(subscriber.from)}>`;
      try {
        const sent = transport.sendMail({
          from: subscriber.from,
          to: { name: '', address: to },
          ...{ subject, text, html, headers, messageId },
        });
        await Promise.race([sent, ended.promise]);
      } catch (error) {
        throw error instanceof DeliveryError ? error : new DeliveryError(reasonOf(error));
      } finally {
        given.removeEventListener('abort', onAbort);
      }
    },
    close: () => transport.close(),
  };
}

/** Returns only the code of the reply or of the failure, because the messages of both may name the recipient. */
function reasonOf(error: unknown): string {
  const { responseCode, code } = Object(error) as { readonly responseCode?: unknown; readonly code?: unknown };
  if (typeof responseCode === 'number') return `answered ${responseCode}`;
  return `no answer: ${typeof code === 'string' ? code : 'the mail could not be sent'}`;
}
