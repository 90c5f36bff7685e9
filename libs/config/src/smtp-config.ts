import * as Type from '@auth-account/contracts/type';

/** Name of a subscriber to events. */
export const SubscriberName = Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,62}$' });

/** A subscriber to events that sends mails: an item of EVENT_SUBSCRIBERS. */
export const SmtpSubscriber = Type.Object({
  name: SubscriberName,
  kind: Type.Literal('smtp'),
  url: Type.String({ pattern: '^smtps?://([^\\s/?#@]+@)?[^\\s/?#@]+/?$' }),
  // An address, or a name and an address in angle brackets.
  from: Type.String({ maxLength: 320, pattern: '^([^\\s<>@]+@[^\\s<>@]+|[^\\r\\n<>@]+ <[^\\s<>@]+@[^\\s<>@]+>)$' }),
  // If false, the connection is not encrypted. This is for a server on the same host.
  starttls: Type.Optional(Type.Boolean()),
});
export type SmtpSubscriber = Type.Static<typeof SmtpSubscriber>;

const ports = { 'smtp:': 587, 'smtps:': 465 } as const;

/**
 * Returns how to connect to the subscriber's mail server, as nodemailer's options. With `smtps:`, TLS starts with the
 * first byte. With `smtp:`, the server must offer STARTTLS unless the subscriber has `starttls: false`. The server's
 * certificate is verified.
 */
export function smtpServerOf({ url, starttls }: Pick<SmtpSubscriber, 'url' | 'starttls'>) {
  const { protocol, hostname, port, username, password } = new URL(url);
  const isTls = protocol === 'smtps:';
  const auth = { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? ports[isTls ? 'smtps:' : 'smtp:'] : Number(port),
    secure: isTls,
    requireTLS: !isTls && starttls !== false,
    ignoreTLS: !isTls && starttls === false,
    ...(auth.user === '' ? {} : { auth }),
  };
}
