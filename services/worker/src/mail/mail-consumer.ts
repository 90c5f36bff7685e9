import type { SmtpSubscriber } from '@auth-account/config';
import type { AuthEvent } from '@auth-account/contracts/events';
import { type AttemptDeps, createDeliverEvent } from '../delivery/deliver-event.ts';
import { type Consumer, type ConsumerOptions, createJobConsumer } from '../delivery/event-consumers.ts';
import type { Recovery } from '../delivery/recovery.ts';
import type { RenderMail } from './mail-templates.ts';
import { isMailed, type MailEvent, type ReadMail } from './read-mail.ts';
import { createSmtpSender } from './smtp-sender.ts';

export interface MailConsumerDeps extends AttemptDeps {
  readonly readMail: ReadMail;
  readonly renderMail: RenderMail;
  readonly recovery: Pick<Recovery, 'onTaken'>;
}

/** Wires the consumer of a mail subscriber's queue, which sends each event of {@link isMailed} as a mail. */
export function createMailConsumer(options: ConsumerOptions, smtp: SmtpSubscriber, deps: MailConsumerDeps): Consumer {
  const { readMail, renderMail, timeoutMs, connectTimeoutMs, concurrency, metrics, recovery } = deps;
  const sender = createSmtpSender({ subscriber: smtp, timeoutMs, connectTimeoutMs, connections: concurrency });

  async function mail(event: MailEvent, stop: AbortSignal): Promise<'sent' | 'void'> {
    const letter = await readMail(event);
    if (letter === undefined) return 'void';
    const { to, purpose, locale, values } = letter;
    await sender.send({ to, id: event.id, ...renderMail(purpose, locale, values) }, stop);
    recovery.onTaken();
    return 'sent';
  }

  async function send(event: AuthEvent, stop: AbortSignal): Promise<undefined> {
    if (!isMailed(event)) return;
    const { purpose } = event.data;
    try {
      metrics.mails.inc({ purpose, outcome: await mail(event, stop) });
    } catch (error) {
      metrics.mails.inc({ purpose, outcome: 'failed' });
      throw error;
    }
  }

  const deliver = createDeliverEvent({
    ...deps,
    subscriber: smtp.name,
    send,
    onThrottled: () => undefined,
    onExpired: (event) => isMailed(event) && metrics.mails.inc({ purpose: event.data.purpose, outcome: 'expired' }),
  });
  const consumer = createJobConsumer(options, deliver, { concurrency });
  return {
    start: consumer.start,
    abort: consumer.abort,
    async close() {
      await consumer.close();
      sender.close();
    },
  };
}
