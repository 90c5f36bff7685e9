import { randomBytes } from 'node:crypto';

const base64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const bcryptBase64 = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/**
 * Returns a hash that no known password has, to make an account's password unusable. It has the kind and cost of the
 * account's own hash, so that a login takes the same time. Instead of the digest it has random bytes. No password is
 * hashed.
 */
export function unusableHash(stored: string): string {
  const [, bcrypt] = /^(\$2[aby]\$\d\d\$[./A-Za-z0-9]{22})/.exec(stored) ?? [];
  if (bcrypt === undefined) return `${stored.slice(0, stored.lastIndexOf('$') + 1)}${digest(32)}`;
  return bcrypt + digest(23).replaceAll(/./g, (char) => bcryptBase64.charAt(base64.indexOf(char)));
}

function digest(bytes: number): string {
  return randomBytes(bytes).toString('base64').replaceAll('=', '');
}
