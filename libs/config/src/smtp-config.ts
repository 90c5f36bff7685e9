import { domainToASCII } from 'node:url';
import * as Type from '@auth-account/contracts/type';

/** Name of a subscriber to events. */
export const SubscriberName = Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,62}$' });

/** A subscriber to events that sends mails: an item of EVENT_SUBSCRIBERS. */
export const SmtpSubscriber = Type.Object({
  name: SubscriberName,
  kind: Type.Literal('smtp'),
  url: Type.String({ pattern: '^smtps?://([^\\s/?#@]+@)?[^\\s/?#@]+/?$' }),
  // An email address, or a name and one in angle brackets.
  from: Type.String({ maxLength: 320, pattern: '^([^\\s<>@]+@[^\\s<>@]+|[^\\r\\n<>@]+ <[^\\s<>@]+@[^\\s<>@]+>)$' }),
  // Name with which the client introduces itself (RFC 5321, section 4.1.4). Default: the domain of `from`.
  ehlo_name: Type.Optional(
    Type.String({ maxLength: 255, pattern: '^([A-Za-z0-9-]+(\\.[A-Za-z0-9-]+)*|\\[[0-9A-Fa-f:.]+\\])$' }),
  ),
  // If false, the connection is not encrypted. This is for a server on the same host.
  starttls: Type.Optional(Type.Boolean()),
});
export type SmtpSubscriber = Type.Static<typeof SmtpSubscriber>;

/** Returns the domain of an email address, also of one in angle brackets after a name. */
export function senderDomain(from: string): string {
  return /@([^\s@<>]+)>?$/.exec(from)?.[1] ?? 'localhost';
}

const ports = { 'smtp:': 587, 'smtps:': 465 } as const;

/**
 * Returns how to connect to the subscriber's mail server, as nodemailer's options. With `smtps:`, TLS starts with the
 * first byte. With `smtp:`, the server must offer STARTTLS unless the subscriber has `starttls: false`. The server's
 * certificate is verified. Strict servers refuse a client whose name is no domain, and a pod's own name is none. Throws
 * if the URL is malformed.
 */
export function smtpServerOf({ url, from, ehlo_name, starttls }: Omit<SmtpSubscriber, 'name' | 'kind'>) {
  const { protocol, hostname, port, username, password } = new URL(url);
  const isTls = protocol === 'smtps:';
  const auth = { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? ports[isTls ? 'smtps:' : 'smtp:'] : Number(port),
    name: ehlo_name ?? domainToASCII(senderDomain(from)),
    secure: isTls,
    requireTLS: !isTls && starttls !== false,
    ignoreTLS: !isTls && starttls === false,
    ...(auth.user === '' ? {} : { auth }),
  };
}
