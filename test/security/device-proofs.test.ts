import { createPublicKey, generateKeyPairSync, verify as verifySignature } from 'node:crypto';
import { routes } from '@auth-account/contracts';
import { describe, expect, test } from '@jest/globals';
import { createVerifyDeviceProof } from '../../services/api/src/security/verify-device-proof.ts';
import {
  newDeviceKey,
  refreshPath,
  sha256,
  signProof,
  testIssuer,
  type WantedProof,
} from '../support/api/device-key.ts';

const at = 1_800_000_000_000;
const request = { method: 'POST', path: refreshPath };
const open = (issuer = `${testIssuer}/`) => createVerifyDeviceProof({ issuer, now: () => at });
const verify = (...given: Parameters<ReturnType<typeof open>>) => open()(...given);
const key = newDeviceKey();
const prove = (wanted: Partial<WantedProof> = {}) => key.prove({ path: refreshPath, at, ...wanted });
const { privateKey: otherKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const privateJwk = otherKey.export({ format: 'jwk' });
const publicJwk = { kty: 'EC', crv: 'P-256', x: privateJwk.x, y: privateJwk.y };

/** The proof of RFC 9449, section 4.2. Section 6.1 names its thumbprint. */
const published = [
  'eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19',
  'eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ',
  '2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg',
].join('.');

describe('accepted device proofs', () => {
  test('the example proof of RFC 9449 is accepted', () => {
    const own = createVerifyDeviceProof({ issuer: 'https://server.example.com', now: () => 1_562_262_616_000 });
    expect(own(published, { method: 'POST', path: '/token' })).toEqual({
      jkt: '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I',
      rth: undefined,
    });
  });

  test('an accepted proof gives the thumbprint of its key, and the hash of the refresh token', () => {
    expect(verify(prove({ token: 'a token' }), request)).toEqual({ jkt: key.jkt, rth: sha256('a token') });
  });

  test.each([-60_000, 60_000])('a proof by a clock that is %i ms off is accepted', (offset) => {
    expect(verify(prove({ at: at + offset }), request)).toMatchObject({ jkt: key.jkt });
  });

  test.each([
    `${testIssuer}${refreshPath}?a=b#c`,
    `HTTPS://AUTH.LOCAL:443${refreshPath}`,
    `https://auth.local/api/v1/../v1/auth/refresh`,
    `https://auth.local/%61pi/v1/auth/%72efresh`,
  ])('a proof for the same URL in another form is accepted: %s', (htu) => {
    expect(verify(prove({ claims: { htu } }), request)).toMatchObject({ jkt: key.jkt });
  });
});

describe('refused device proofs', () => {
  test.each<[string, Partial<WantedProof>]>([
    ['another type', { header: { typ: 'JWT' } }],
    ['no algorithm', { header: { alg: 'none' } }],
    ['HS256', { header: { alg: 'HS256' } }],
    ['an extension that must be understood', { header: { crit: ['b64'] } }],
    ['no key', { header: { jwk: undefined } }],
    ['a private key', { header: { jwk: privateJwk }, signer: otherKey }],
    ['another curve', { header: { jwk: { ...publicJwk, crv: 'P-384' } }, signer: otherKey }],
    ['a key that is null', { header: { jwk: null } }],
    ['another kind of key', { header: { jwk: { ...publicJwk, kty: 'OKP' } }, signer: otherKey }],
    ['a coordinate of 31 bytes', { header: { jwk: { ...publicJwk, y: 'A'.repeat(42) } }, signer: otherKey }],
    ['a coordinate of another text', { header: { jwk: { ...publicJwk, y: `${'A'.repeat(42)}B` } }, signer: otherKey }],
    ['a second form of its key', { header: { jwk: { ...publicJwk, x: `${publicJwk.x}=` } }, signer: otherKey }],
    ['no jti', { claims: { jti: undefined } }],
    ['an empty jti', { claims: { jti: '' } }],
    ['a time as text', { claims: { iat: String(at / 1_000) } }],
    ['no time', { claims: { iat: undefined } }],
    ['a hash that is no text', { claims: { rth: 1 } }],
  ])('a proof is refused for its form: %s', (_, wanted) => {
    expect(verify(prove(wanted), request)).toBe('form');
  });

  test.each([
    ['nothing', ''],
    ['two proofs', `${prove()}, ${prove()}`],
    ['two parts', prove().split('.').slice(0, 2).join('.')],
    ['a header that is no object', signProof(['dpop+jwt'], {}, otherKey)],
    ['a header that is no JSON', `AAAA.AAAA.${'A'.repeat(86)}`],
    ['claims that are null', signProof({ typ: 'dpop+jwt', alg: 'ES256', jwk: publicJwk }, null as never, otherKey)],
  ])('a DPoP header is refused for its form: %s', (_, header) => {
    expect(verify(header, request)).toBe('form');
  });

  test.each<[string, string, Partial<WantedProof>]>([
    ['htm', 'another method', { claims: { htm: 'GET' } }],
    ['htu', 'another operation', { path: routes.logIn.path }],
    ['htu', 'another host', { claims: { htu: `https://auth.example${refreshPath}` } }],
    ['htu', 'plain http', { claims: { htu: `http://auth.local${refreshPath}` } }],
    ['htu', 'a user in the URL', { claims: { htu: `https://user@auth.local${refreshPath}` } }],
    ['htu', 'a list', { claims: { htu: [`${testIssuer}${refreshPath}`] } }],
    ['htu', 'a path', { claims: { htu: refreshPath } }],
    ['htu', 'no address', { claims: { htu: undefined } }],
    ['iat', 'an old proof', { at: at - 61_000 }],
    ['iat', 'a proof from the future', { at: at + 61_000 }],
    ['signature', 'the signature of another key', { signer: otherKey }],
    ['signature', 'a point that is not on the curve', { header: { jwk: { ...publicJwk, y: publicJwk.x } } }],
  ])('a proof is refused for its %s: %s', (fault, _, wanted) => {
    expect(verify(prove(wanted), request)).toBe(fault);
  });

  test('a proof whose claims were changed is refused', () => {
    const [head, , signature] = prove().split('.');
    const [, body] = prove({ token: 'another token' }).split('.');
    expect(verify([head, body, signature].join('.'), request)).toBe('signature');
  });
});

test('a device proof costs less than three bare verifications of its signature', () => {
  const proof = prove({ token: 'a token' });
  const [head, body, signature = ''] = proof.split('.');
  const bare = createPublicKey({ key: JSON.parse(Buffer.from(head ?? '', 'base64url').toString()).jwk, format: 'jwk' });
  const signed = [Buffer.from(`${head}.${body}`), Buffer.from(signature, 'base64url')] as const;
  const checkBare = () => verifySignature('sha256', signed[0], { key: bare, dsaEncoding: 'ieee-p1363' }, signed[1]);
  expect(checkBare()).toBe(true);
  const measure = (check: () => unknown) => {
    const before = process.cpuUsage();
    for (let round = 0; round < 100; round += 1) check();
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  const opened = open();
  const turns = Array.from({ length: 7 }, () => [measure(() => opened(proof, request)), measure(checkBare)] as const);
  const [own, least] = [Math.min(...turns.map(([cost]) => cost)), Math.min(...turns.map(([, cost]) => cost))];
  expect(own / least).toBeLessThan(3);
});
