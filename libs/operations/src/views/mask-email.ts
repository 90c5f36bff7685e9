/**
 * Hides an email address except for the first character of mailbox and domain, and the top level: `a…@e….com`. So a
 * person who reads the address aloud can be compared with it, and it can't be used.
 */
export function maskEmail(email: string): string {
  const [mailbox, domain] = [email.slice(0, email.lastIndexOf('@')), email.slice(email.lastIndexOf('@') + 1)];
  const dot = domain.lastIndexOf('.');
  return `${firstOf(mailbox)}…@${firstOf(domain)}…${dot > 0 ? domain.slice(dot) : ''}`;
}

/** Hides all email addresses of a text that others wrote, such as a subscriber's error. */
export function maskEmailsIn(text: string): string {
  // The lengths are those of RFC 5321, and keep the search linear.
  return text.replace(/[^\s@<>()[\]",;:]{1,64}@[^\s@<>()[\]",;:]{1,255}/g, maskEmail);
}

/** Returns the first character, which may be of two UTF-16 units. */
function firstOf(text: string): string {
  const [first = ''] = text;
  return first;
}
