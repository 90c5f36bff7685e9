import { describe, expect, test } from '@jest/globals';
import { findHashFault } from './find-hash-fault.ts';

const bcrypt = '$2b$10$4Y40YxGsDf.ZlSjtbPfOuOeo5A0l5YxzS5lRk/.DcXwWFSF8qEJ1q';
const argon2 = '$argon2id$v=19$m=19456,t=2,p=1$IFll0i3518ekbseQ3e4P4g$Tpk5w9g5BIWYk1a5c5Xg/0GUOm56eHBeJfke9my9SG4';

const withCost = (cost: string) => bcrypt.replace('$10$', `$${cost}$`);
const withParameters = (parameters: string) => argon2.replace('m=19456,t=2,p=1', parameters);
const withSalt = (bytes: number) => argon2.replace('IFll0i3518ekbseQ3e4P4g', base64(bytes));
const withDigest = (bytes: number) => argon2.replace(/[^$]+$/, base64(bytes));

function base64(bytes: number): string {
  return Buffer.alloc(bytes, 7).toString('base64').replace(/=+$/, '');
}

describe('password hashes', () => {
  test.each([
    bcrypt,
    bcrypt.replace('$2b$', '$2a$'),
    bcrypt.replace('$2b$', '$2y$'),
    withCost('04'),
    withCost('16'),
    argon2,
    argon2.replace('argon2id', 'argon2i'),
    withParameters('m=65536,p=4,t=3'),
    withParameters('m=262144,t=8,p=1'),
    withSalt(8),
    withSalt(48),
    withDigest(12),
    withDigest(64),
  ])('the password hash %s can be imported', (hash) => {
    expect(findHashFault(hash)).toBeUndefined();
  });

  test.each([
    ['plain text', 'correct horse battery', 'neither bcrypt'],
    ['a fast hash', '{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=', 'neither bcrypt'],
    ['the faulty bcrypt', bcrypt.replace('$2b$', '$2x$'), 'neither bcrypt'],
    ['Argon2d', argon2.replace('argon2id', 'argon2d'), 'neither bcrypt'],
    ['bcrypt that is cut off', bcrypt.slice(0, -1), 'no bcrypt string'],
    ['bcrypt with more behind it', `${bcrypt} `, 'no bcrypt string'],
    ['bcrypt below its least cost', withCost('03'), 'cost of 03'],
    ['bcrypt that would take a minute', withCost('17'), 'cost of 17'],
    ['a salt with spare bits', bcrypt.replace('fOuOe', 'fOuPe'), 'ends in bits'],
    ['a digest with spare bits', `${bcrypt.slice(0, -1)}r`, 'ends in bits'],
    ['an old version of Argon2', argon2.replace('v=19', 'v=16'), 'no PHC string'],
    ['a key id', withParameters('m=19456,t=2,p=1,keyid=abcd'), 'once each'],
    ['a parameter twice', withParameters('m=19456,m=19456,t=2'), 'once each'],
    ['a parameter that is missing', withParameters('m=19456,t=2'), 'once each'],
    ['a parameter with zeros before it', withParameters('m=019456,t=2,p=1'), 'once each'],
    ['too little memory for its lanes', withParameters('m=31,t=2,p=4'), 'less memory'],
    ['memory that no pod has', withParameters('m=262145,t=1,p=1'), 'costs too much'],
    ['more passes than there is time for', withParameters('m=19456,t=33,p=1'), 'costs too much'],
    ['memory and passes that are too much together', withParameters('m=262144,t=9,p=1'), 'costs too much'],
    ['a salt of 7 bytes', withSalt(7), 'salt'],
    ['a salt of 49 bytes', withSalt(49), 'salt'],
    ['a digest of 11 bytes', withDigest(11), 'digest'],
    ['a digest of 65 bytes', withDigest(65), 'digest'],
    ['padding', `${argon2}=`, 'no PHC string'],
    ['a digest with spare bits of Base64', `${argon2.slice(0, -1)}5`, 'digest'],
  ])('the password hash is refused, and not repeated: %s', (_case, hash, why) => {
    const fault = findHashFault(hash);
    expect(fault).toContain(why);
    expect(fault).not.toContain(hash);
  });
});
