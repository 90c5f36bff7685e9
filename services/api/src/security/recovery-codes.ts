import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { codeAsMeant } from './as-meant.ts';
import { toBase32 } from './base32.ts';

const codes = 10;
/** 125 bits. */
const characters = 25;
const label = 'recovery-code';

/** Returns the codes of a new set: `ABCDE-FGHIJ-KLMNO-PQRST-UVWXY`. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: codes }, () =>
    toBase32(randomBytes(16))
      .slice(0, characters)
      .replaceAll(/.{5}(?=.)/g, '$&-'),
  );
}

/**
 * Returns the key of the stored forms. It is stored beside them and reveals nothing of the seed, so that the codes count
 * even if the server key that seals the seed is lost. Earlier releases stored no key, and derived it for each use.
 */
export function recoveryKeyOf(seed: Uint8Array): Buffer {
  return Buffer.from(hkdfSync('sha256', seed, '', label, 32));
}

/**
 * Returns the form in which a code is stored. A dump of the database does not show the codes, even with the key: 125
 * random bits cannot be guessed.
 */
export function createRecoveryCodeHash(key: Uint8Array): (code: string) => string {
  return (code) => createHmac('sha256', key).update(normalForm(code)).digest('base64url');
}

/** Returns the stored form of the code, if it is among `stored`. Compares in constant time. */
export function findRecoveryCode(key: Uint8Array, code: string, stored: readonly string[]): string | undefined {
  const given = Buffer.from(createRecoveryCodeHash(key)(code));
  const found = stored.filter((each) => each.length === given.length && timingSafeEqual(Buffer.from(each), given));
  return found[0];
}

/** Digits that base32 does not have, and the letters for which they are misread. */
const misread: Readonly<Record<string, string>> = { 0: 'O', 1: 'I', 8: 'B' };

/** Returns the code without its hyphens. */
function normalForm(code: string): string {
  return codeAsMeant(code).replaceAll(/[018]/g, (digit) => misread[digit] ?? digit);
}
