import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { simpleParser } from 'mailparser';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { escapeHtml } from '../escape-html.ts';
import type { Log } from '../log.ts';

/** A mail that the sink took. */
export interface SunkMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Time of the mail's arrival, in ISO 8601. */
  readonly at: string;
}

/** A mail server that keeps the mails that it gets and does not send them on. */
export interface MailSink {
  readonly port: number;
  /** Returns the latest mails, the newest first. */
  mails(): readonly SunkMail[];
  stop(): Promise<void>;
}

const mailsKept = 200;
/** Time in which connections that clients leave open may end when the sink stops. smtp-server waits half a minute. */
const closeTimeoutMs = 100;

/**
 * Starts the mail sink on 127.0.0.1, by default on any free port. For each mail it prints a line with the subject,
 * where the code is. Without options it accepts mails from everybody, unencrypted.
 */
export async function startMailSink(print: Log, options: SMTPServerOptions = {}, port = 0): Promise<MailSink> {
  let kept: readonly SunkMail[] = [];
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    closeTimeout: closeTimeoutMs,
    ...options,
    onData(stream, session, callback) {
      simpleParser(stream)
        .then(({ subject = '', text = '', html }) => {
          const [recipient] = session.envelope.rcptTo;
          const mail = { to: recipient?.address ?? '', subject, text, html: html || '', at: new Date().toISOString() };
          kept = [mail, ...kept].slice(0, mailsKept);
          print(`to ${mail.to}: ${subject}`);
          callback();
        })
        .catch(callback);
    },
  });
  // An error, such as a connection that a client breaks, is only printed.
  server.on('error', (error) => print(error.message));
  server.listen(port, '127.0.0.1');
  await once(server.server, 'listening');
  return {
    port: (server.server.address() as AddressInfo).port,
    mails: () => kept,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** Returns the mails as a page for people, the newest first. */
export function mailPage(mails: readonly SunkMail[]): string {
  const articles = mails.map(
    ({ to, subject, html, at }) => `<article>
<h2>${escapeHtml(subject)}</h2>
<p>to ${escapeHtml(to)}, ${at}</p>
<iframe sandbox title="${escapeHtml(subject)}" srcdoc="${escapeHtml(html)}"></iframe>
</article>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Mails</title>
<style>
  body { font: 16px/1.5 sans-serif; max-width: 640px; margin: 0 auto; padding: 16px; }
  iframe { width: 100%; height: 420px; border: 1px solid #d1d5db; border-radius: 8px; }
</style>
</head>
<body>
<h1>Mails</h1>
${articles.join('\n') || '<p>None yet. Reload this page after one was sent.</p>'}
</body>
</html>
`;
}
