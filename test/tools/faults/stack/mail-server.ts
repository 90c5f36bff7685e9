import { startMailSink } from '@auth-account/local-stack/mail-sink';
import { type Cut, startCuttableProxy } from './cuttable-proxy.ts';
import type { FilledMailbox } from './mailbox.ts';

/** A mail server, which is a subscriber of the kind `smtp` and fills users' mailboxes. */
export interface MailServer {
  /** The server's entry in `EVENT_SUBSCRIBERS`. */
  readonly configuration: object;
  cut(how: Cut): void;
  fix(): void;
  close(): Promise<void>;
}

export async function startMailServer(mailbox: Pick<FilledMailbox, 'take'>): Promise<MailServer> {
  const sink = await startMailSink(() => {
    // The sink logs a line right after it has accepted a mail.
    const [mail] = sink.mails();
    if (mail !== undefined) mailbox.take(mail);
  });
  const proxy = await startCuttableProxy(sink.port);
  const url = `smtp://127.0.0.1:${proxy.port}`;
  return {
    configuration: { name: 'mail', kind: 'smtp', url, from: 'faults@example.com', starttls: false },
    cut: (how) => proxy.cut(how),
    fix: proxy.fix,
    async close() {
      await proxy.close();
      await sink.stop();
    },
  };
}
