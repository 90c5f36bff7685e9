/** Returns the text without the spaces and invisible characters around it, which a paste may bring. */
const trimmed = (text: string): string =>
  text.replace(/^[^!-~\xae-\u1fff\u3001-\ufefe]+|[^!-~\xae-\u1fff\u3001-\ufefe]+$/g, '');

/** Returns the email address as it identifies an intent. */
export const emailKey = (email: string): string => trimmed(email).toLowerCase();

/**
 * Prints a body as its user means it: email addresses and tokens without what is around them; codes as letters and
 * digits, even if they were typed with spaces, dashes or in full width. What else was typed is left out of a code. If
 * it is none then, it is refused for its form, and uses up no try.
 */
export function printBody(body: object): string {
  return JSON.stringify(body, (name, value) => {
    if (typeof value !== 'string') return value;
    if (name === 'code') return value.normalize('NFKC').replace(/[^0-9a-z]/gi, '');
    return /email$|^(invite_)?token$/.test(name) ? trimmed(value) : value;
  });
}
