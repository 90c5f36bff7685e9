import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { toBase32 } from './base32.ts';

/** Length that RFC 4226, section 4, recommends for HMAC-SHA-1. */
const seedLength = 20;
const stepMs = 30_000;
const digits = 6;

/** Steps whose code is accepted, relative to the present step: a phone's clock may be one step off. */
const drifts = [0, -1, 1];

/** Returns a new random seed. */
export function newTotpSeed(): Buffer {
  return randomBytes(seedLength);
}

/** Names under which an authenticator app lists the account. */
export interface TotpLabel {
  readonly issuer: string;
  readonly account: string;
}

/**
 * Returns the URL that authenticator apps read from a QR code. All other parameters have their default values, because
 * several apps ignore them.
 */
export function otpauthUri({ issuer, account }: TotpLabel, seed: Uint8Array): string {
  const [name, service] = [encodeURIComponent(account), encodeURIComponent(issuer)];
  return `otpauth://totp/${service}:${name}?secret=${toBase32(seed)}&issuer=${service}`;
}

/** Returns the code of a step (RFC 6238 with SHA-1; RFC 4226, section 5.3). */
export function totpCode(seed: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', seed).update(counter).digest();
  const number = mac.readUInt32BE(mac.readUInt8(mac.length - 1) & 0xf) & 0x7fff_ffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

/**
 * Returns the step whose code was given, or undefined if the code is wrong. Compares in constant time. The caller must
 * use the step up: a step that is not later than the last one is a replay.
 */
export function totpStepOf(seed: Uint8Array, code: string, at: Date): number | undefined {
  const present = Math.floor(at.getTime() / stepMs);
  const given = Buffer.from(code);
  const found = drifts.map((drift) => present + drift).filter((step) => isEqual(given, totpCode(seed, step)));
  return found[0];
}

function isEqual(given: Buffer, code: string): boolean {
  const right = Buffer.from(code);
  return given.length === right.length && timingSafeEqual(given, right);
}
