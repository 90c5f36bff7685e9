import { disturbing, visible } from '@auth-account/contracts/http/fields';

/** Spaces, invisible characters and dashes of every kind, which people type or copy with a code. */
const separators = /[\s\p{Z}\p{Cf}\p{Pd}\u2043\u2212]/gu;

/**
 * Returns a code as its user means it: without spaces and dashes, and with ASCII digits and capitals in place of
 * full-width and small ones (docs/specification/requests.md, "Bodies").
 */
export function codeAsMeant(text: string): string {
  return text.normalize('NFKC').replaceAll(separators, '').toUpperCase();
}

const maxInName = 64;
const unfit = new RegExp(`[\\p{Cs}${disturbing}]`, 'gu');
const firstVisible = new RegExp(visible, 'u');

/**
 * Returns the name that somebody else's software has sent, in the form that a person could type (`NameOrNull`):
 * shortened, and without the characters that a name may not have. Returns undefined if nothing visible remains.
 */
export function nameAsMeant(text: string): string | undefined {
  const name = text.replaceAll(/\p{Cc}+/gu, ' ').replaceAll(unfit, '');
  const start = name.search(firstVisible);
  if (start < 0) return;
  return [...name.slice(start)].slice(0, maxInName).join('').trimEnd();
}
