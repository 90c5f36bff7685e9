/** Limits within which the api can verify a hash, at an acceptable cost. */
const bcryptCosts = { minimum: 4, maximum: 16 };
const argon2Limits = { memoryKib: 262_144, passes: 32, lanes: 64, totalKib: 2 ** 21 };

const bcryptAlphabet = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/**
 * Returns the reason why a password hash can't be imported; undefined if it can. It accepts bcrypt (`$2a$`, `$2b$`,
 * `$2y$`) and PHC strings of Argon2id and Argon2i, version 19. The reason never repeats the hash.
 */
export function findHashFault(hash: string): string | undefined {
  if (/^\$2[aby]\$/.test(hash)) return findBcryptFault(hash);
  if (/^\$argon2(id|i)\$/.test(hash)) return findArgon2Fault(hash);
  return 'password_hash is neither bcrypt ($2a$, $2b$, $2y$) nor Argon2 ($argon2id$, $argon2i$)';
}

function findBcryptFault(hash: string): string | undefined {
  const [, cost, salt = '', digest = ''] =
    /^\$2[aby]\$(\d\d)\$([./A-Za-z0-9]{22})([./A-Za-z0-9]{31})$/.exec(hash) ?? [];
  if (cost === undefined) return 'password_hash is no bcrypt string: $2b$, two digits of cost, $, 53 characters';
  const { minimum, maximum } = bcryptCosts;
  if (Number(cost) < minimum || Number(cost) > maximum) {
    return `password_hash has a bcrypt cost of ${cost}: ${minimum} to ${maximum} can be verified`;
  }
  // 16 and 23 bytes leave 4 and 2 bits of the last characters unused. These bits must be zero, because the api's bcrypt
  // compares them too.
  const isExact =
    bcryptAlphabet.indexOf(salt.at(-1) ?? '') % 16 === 0 && bcryptAlphabet.indexOf(digest.at(-1) ?? '') % 4 === 0;
  return isExact ? undefined : 'password_hash is no bcrypt string: its salt or digest ends in bits that none has';
}

function findArgon2Fault(hash: string): string | undefined {
  const [, parameters, salt, digest] =
    /^\$argon2(?:id|i)\$v=19\$([^$]+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/.exec(hash) ?? [];
  if (parameters === undefined || salt === undefined || digest === undefined) {
    return 'password_hash is no PHC string of Argon2: $argon2id$v=19$m=…,t=…,p=…$salt$digest';
  }
  if (!isOfLength(salt, 8, 48)) return 'password_hash has a salt that is no Base64 of 8 to 48 bytes';
  if (!isOfLength(digest, 12, 64)) return 'password_hash has a digest that is no Base64 of 12 to 64 bytes';
  return findParameterFault(parameters);
}

function isOfLength(base64: string, minimum: number, maximum: number): boolean {
  const bytes = Buffer.from(base64, 'base64');
  // The hashers accept only the spelling that has no padding and whose unused bits are zero.
  const isExact = bytes.toString('base64').replace(/=+$/, '') === base64;
  return isExact && bytes.length >= minimum && bytes.length <= maximum;
}

function findParameterFault(parameters: string): string | undefined {
  const pairs = parameters.split(',').map((pair) => /^([mtp])=([1-9]\d{0,8})$/.exec(pair)?.slice(1) ?? []);
  const { m, t, p } = Object.fromEntries(pairs) as Partial<Record<string, string>>;
  if (pairs.length !== 3 || m === undefined || t === undefined || p === undefined) {
    return 'password_hash must have the parameters m, t and p, once each';
  }
  const [memoryKib, passes, lanes] = [Number(m), Number(t), Number(p)];
  const limits = argon2Limits;
  if (memoryKib < 8 * lanes) return 'password_hash has less memory than 8 KiB for each lane';
  if (memoryKib > limits.memoryKib || passes > limits.passes || lanes > limits.lanes) {
    return `password_hash costs too much: m up to ${limits.memoryKib}, t up to ${limits.passes}, p up to ${limits.lanes}`;
  }
  if (memoryKib * passes > limits.totalKib) return `password_hash costs too much: m · t up to ${limits.totalKib}`;
  return undefined;
}
