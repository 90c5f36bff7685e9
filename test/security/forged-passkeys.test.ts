import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { PasskeyFault } from '../../services/api/src/security/passkeys/passkey-fault.ts';
import { createPasskeyVerifier, webauthnChallenge } from '../../services/api/src/security/passkeys/passkey-verifier.ts';
import {
  androidOrigin,
  type Ceremony,
  createAuthenticator,
  ecKey,
  okpKey,
  rsaKey,
} from '../support/api/authenticator.ts';

const rpId = 'example.com';
const origin = 'https://app.example.com';
const androidCertificate = randomBytes(32);
const origins = [origin, androidOrigin(androidCertificate)];
const verifier = createPasskeyVerifier({ rpId, origins });
const userHandle = randomBytes(64).toString('base64url');
const challengeId = 'id of a challenge';
const challenge = webauthnChallenge(challengeId);
const creation = { challenge, rp: { id: rpId }, user: { id: userHandle } };
const request = { challenge, rpId };

/** Registers a passkey and uses it, with what is wrong about the two ceremonies. */
async function registered(settings: Partial<Parameters<typeof createAuthenticator>[0]> = {}) {
  const authenticator = createAuthenticator({ origin, ...settings });
  const passkey = await verifier.verifyNew(authenticator.create(creation), challengeId);
  if (typeof passkey === 'string') throw new Error(`the passkey was refused: ${passkey}`);
  return { authenticator, passkey };
}

const make = (ceremony: Ceremony) =>
  verifier.verifyNew(createAuthenticator({ origin }).create(creation, ceremony), challengeId);

async function use(ceremony: Ceremony, requireUv = true) {
  const { authenticator, passkey } = await registered();
  return verifier.verifyUse(passkey, authenticator.get(request, ceremony), challengeId, { requireUv });
}

/** Ceremonies that neither a registration nor a login accepts. */
const wrong: readonly (readonly [string, Ceremony, PasskeyFault])[] = [
  ['another challenge', { challenge: webauthnChallenge('another') }, 'challenge'],
  [
    'the challenge itself in place of its hash',
    { challenge: Buffer.from(challengeId).toString('base64url') },
    'challenge',
  ],
  ['the other ceremony', { type: 'webauthn.other' }, 'ceremony'],
  ['another RP id', { rpId: 'example.org' }, 'rp_id'],
  ['the API as RP id', { rpId: 'api.example.com' }, 'rp_id'],
  ['a sibling subdomain', { origin: 'https://evil.example.com' }, 'origin'],
  ['the registrable domain itself', { origin: 'https://example.com' }, 'origin'],
  ['the origin over http', { origin: 'http://app.example.com' }, 'origin'],
  ['the origin with another port', { origin: 'https://app.example.com:8443' }, 'origin'],
  ['the origin with a slash', { origin: 'https://app.example.com/' }, 'origin'],
  ['a longer host', { origin: 'https://app.example.com.evil.org' }, 'origin'],
  ['an Android app with a debug certificate', { origin: androidOrigin(randomBytes(32)) }, 'origin'],
  ['an Android app whose hash has padding', { origin: `${androidOrigin(androidCertificate)}=` }, 'origin'],
  ['no user present', { up: false }, 'user_presence'],
  ['no user verification', { uv: false }, 'user_verification'],
  ['a frame on a page of somebody else', { crossOrigin: true, topOrigin: 'https://evil.example' }, 'cross_origin'],
  ['a frame, without the name of the page (Safari)', { crossOrigin: true }, 'cross_origin'],
  ['a page around it that is no frame', { topOrigin: origin }, 'cross_origin'],
  ['backed up, but not to be backed up', { be: false, bs: true }, 'backup_eligibility'],
];

describe.each(wrong)('a passkey ceremony with a flaw: %s', (_, ceremony, fault) => {
  test('a flawed registration makes no passkey, and the flaw is named', async () => {
    expect(await make(ceremony)).toBe(fault);
  });
  // guarantees: flawed-passkey
  test('a flawed login is refused, and the flaw is named', async () => {
    expect(await use(ceremony)).toBe(fault);
  });
});

test.each(['ES256', 'EdDSA', 'RS256'] as const)('a passkey of %s is made and used', async (algorithm) => {
  const { authenticator, passkey } = await registered({ algorithm });
  expect(passkey).toMatchObject({ credentialId: authenticator.credentialIds[0], counter: 0, isBackedUp: true });
  expect(passkey.transports).toEqual(['internal', 'hybrid']);
  const used = await verifier.verifyUse(passkey, authenticator.get(request), challengeId, { requireUv: true });
  expect(used).toEqual({ counter: 0, isUserVerified: true, isBackupEligible: true, isBackedUp: true });
  const forged = authenticator.get(request, { isForged: true });
  expect(await verifier.verifyUse(passkey, forged, challengeId, { requireUv: true })).toBe('signature');
});

test('an Android app is known by the hash of its certificate', async () => {
  expect(await make({ origin: androidOrigin(androidCertificate) })).toMatchObject({ counter: 0 });
  expect(await use({ origin: androidOrigin(androidCertificate) })).toMatchObject({ counter: 0 });
});

test.each([
  [false, false],
  [true, false],
  [true, true],
])('the backup flags are returned as sent: eligible %s, backed up %s', async (be, bs) => {
  const flags = { isBackupEligible: be, isBackedUp: bs };
  expect(await make({ be, bs })).toMatchObject(flags);
  expect(await use({ be, bs })).toMatchObject(flags);
});

test('a passkey that its password manager makes without the user is taken, and a login without the user is not', async () => {
  const withoutUser = { up: false, uv: false };
  expect(await make(withoutUser)).toMatchObject({ counter: 0 });
  expect(await use(withoutUser)).toBe('user_presence');
  expect(await use(withoutUser, false)).toBe('user_presence');
});

test('a login without user verification passes only if it is not required', async () => {
  expect(await use({ uv: false }, false)).toMatchObject({ isUserVerified: false });
});

test.each([0, 1, 7, 4_294_967_295])('the signature counter %d is returned and not judged', async (counter) => {
  expect(await use({ counter })).toMatchObject({ counter });
});

test('after a forged signature no counter is returned', async () => {
  expect(await use({ counter: 0, isForged: true })).toBe('signature');
});

test('the signature of one passkey is refused for another passkey', async () => {
  const [one, other] = [await registered(), await registered()];
  const signed = one.authenticator.get(request);
  const renamed = { ...signed, id: other.passkey.credentialId, rawId: other.passkey.credentialId };
  expect(await verifier.verifyUse(other.passkey, renamed, challengeId, { requireUv: true })).toBe('signature');
});

test('a registration whose id is not the new key’s makes no passkey', async () => {
  const made = createAuthenticator({ origin }).create(creation);
  const id = randomBytes(32).toString('base64url');
  expect(await verifier.verifyNew({ ...made, id, rawId: id }, challengeId)).toBe('malformed');
  expect(await verifier.verifyNew({ ...made, rawId: id }, challengeId)).toBe('malformed');
});

test('the statement of an authenticator that attests unasked is not read', async () => {
  expect(await make({ fmt: 'packed' })).toMatchObject({ counter: 0 });
  expect(await make({ fmt: 'apple' })).toMatchObject({ counter: 0 });
  expect(await make({ fmt: 'of somebody else' })).toMatchObject({ counter: 0 });
});

const exponent = Buffer.from([1, 0, 1]);

test.each<[string, Buffer, PasskeyFault?]>([
  ['off its curve', ecKey(randomBytes(32), randomBytes(32))],
  ['of another curve (X25519)', okpKey(4, randomBytes(32))],
  ['of RSA with 1,024 bits', rsaKey(odd(128), exponent)],
  ['of RSA with 8,192 bits', rsaKey(odd(1_024), exponent)],
  ['of RSA with a huge exponent', rsaKey(odd(256), odd(200))],
  ['that is no key', Buffer.from([0xa0])],
  ['that is nested without end', Buffer.alloc(8_000, 0x81), 'malformed'],
])('a key %s makes no passkey', async (_, publicKey, fault = 'key') => {
  expect(await make({ publicKey })).toBe(fault);
});

test.each([256, 512])('a key of RSA with %i bytes makes a passkey', async (size) => {
  expect(await make({ publicKey: rsaKey(odd(size), exponent) })).toMatchObject({ counter: 0 });
});

test('a browser may leave out whether the page is in a frame, and how the authenticator is reached', async () => {
  expect(await use({ crossOrigin: null })).toMatchObject({ counter: 0 });
  const { response, ...made } = createAuthenticator({ origin }).create(creation, { crossOrigin: null });
  const { transports: _, ...bare } = response;
  expect(await verifier.verifyNew({ ...made, response: bare }, challengeId)).toMatchObject({ transports: [] });
});

test('text that is no JSON, and data that is cut off, are refused', async () => {
  const { authenticator, passkey } = await registered();
  const signed = authenticator.get(request);
  const spoiled = (response: Partial<(typeof signed)['response']>) =>
    verifier.verifyUse(passkey, { ...signed, response: { ...signed.response, ...response } }, challengeId, {
      requireUv: true,
    });
  expect(await spoiled({})).toMatchObject({ counter: 0 });
  expect(await spoiled({ clientDataJSON: 'AAAA' })).toBe('malformed');
  expect(await spoiled({ clientDataJSON: Buffer.from('null').toString('base64url') })).toBe('malformed');
  expect(await spoiled({ authenticatorData: 'AAAA' })).toBe('malformed');
  expect(await spoiled({ signature: 'AAAA' })).toEqual(expect.any(String));
});

/** A number of so many bytes, the first and the last bit of which are 1. */
function odd(bytes: number): Buffer {
  const number = randomBytes(bytes);
  number[0] = (number[0] ?? 0) | 0x80;
  number[bytes - 1] = (number[bytes - 1] ?? 0) | 1;
  return number;
}
