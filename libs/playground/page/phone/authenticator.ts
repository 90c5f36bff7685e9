/** An entry of an authenticator app. */
export interface AuthenticatorEntry {
  /** The seed in base32, as the service has given it. */
  readonly secret: string;
  /** Step of the code that was taken last, because each code counts once. */
  readonly takenStep: number;
}

const stepMs = 30_000;
/** Least time for which the service accepts a code after it was taken, in milliseconds, so that it can be entered. */
const enteringMs = 15_000;
const digits = 6;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

const stepAt = (at: number) => Math.floor(at / stepMs);

/** Returns the step of the next code: the earliest that was not taken and that the service accepts for a while. */
export function nextStep({ takenStep }: AuthenticatorEntry, at: number): number {
  return Math.max(stepAt(at + enteringMs) - 1, takenStep + 1);
}

/** Returns the milliseconds until the service accepts the code of the step. */
export function waitFor(step: number, at: number): number {
  return Math.max(0, (step - 1) * stepMs - at);
}

/** Returns the code of a step (RFC 6238 with SHA-1). */
export async function codeOf({ secret }: AuthenticatorEntry, step: number): Promise<string> {
  const key = await crypto.subtle.importKey('raw', bytesOf(secret), { name: 'HMAC', hash: 'SHA-1' }, false, ['sign']);
  const counter = new DataView(new ArrayBuffer(8));
  counter.setBigUint64(0, BigInt(step));
  const mac = new DataView(await crypto.subtle.sign('HMAC', key, counter.buffer));
  const number = mac.getUint32(mac.getUint8(mac.byteLength - 1) & 0xf) & 0x7fff_ffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

/** Reads base32 (RFC 4648, section 6) without padding. */
function bytesOf(base32: string): Uint8Array<ArrayBuffer> {
  const bits = Array.from(base32, (char) => alphabet.indexOf(char).toString(2).padStart(5, '0')).join('');
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2));
}
