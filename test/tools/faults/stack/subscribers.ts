import type { AuthEvent } from '@auth-account/contracts/events';
import { startMailSink } from '@auth-account/local-stack/mail-sink';
import { startHoldingProxy } from '../../../support/stores/holding-proxy.ts';
import { type Answer, hang, startReceiver, status } from '../../../support/worker/worker-receiver.ts';
import type { Mailbox } from '../load/mailbox.ts';

const slowMs = 1_000;

/** The answers of a webhook, by its mood. */
const answers = {
  good: status(204),
  slow: (response) => void setTimeout(() => response.writeHead(204).end(), slowMs),
  hang,
  fail: status(500),
} satisfies Readonly<Record<string, Answer>>;

export type SubscriberMood = keyof typeof answers;

/** A webhook that stores its events by their id, like a subscriber that applies each effect once. */
export type WebhookSubscriber = Awaited<ReturnType<typeof startWebhookSubscriber>>;

/** Starts a webhook. With a mailbox it has its own key, and receives what is mailed. */
export async function startWebhookSubscriber(name: string, mailbox?: Mailbox) {
  const opening =
    (answer: Answer): Answer =>
    (response, delivery) =>
      void Promise.resolve(mailbox?.open(delivery.event)).then(
        () => answer(response, delivery),
        () => response.writeHead(401).end(),
      );
  const { subscriber, received, answerWith, close } = await startReceiver(name, opening(answers.good));
  return {
    name,
    /** The webhook's entry in `EVENT_SUBSCRIBERS`. */
    configuration: { ...subscriber, ...(mailbox && { encrypt_to: mailbox.encryptTo }) },
    /** True if the webhook receives email addresses and codes. */
    hasKey: mailbox !== undefined,
    /** The deliveries. */
    received: received as readonly { readonly event: AuthEvent }[],
    setMood: (mood: SubscriberMood) => answerWith(opening(answers[mood])),
    close,
  };
}

/** Starts a mail server, which is a subscriber of the kind `smtp` and fills users' mailboxes. */
export async function startMailServer(mailbox: Mailbox) {
  const sink = await startMailSink(() => {
    // The sink logs a line right after it has accepted a mail.
    const [mail] = sink.mails();
    if (mail !== undefined) mailbox.take(mail);
  });
  const proxy = await startHoldingProxy(sink.port);
  const url = `smtp://127.0.0.1:${proxy.port}`;
  return {
    /** The server's entry in `EVENT_SUBSCRIBERS`. */
    configuration: { name: 'mail', kind: 'smtp', url, from: 'faults@example.com', starttls: false },
    proxy,
    async close() {
      await proxy.close();
      await sink.stop();
    },
  };
}
