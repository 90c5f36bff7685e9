import { randomUUID } from 'node:crypto';
import { isAppError } from '@auth-account/errors';
import {
  createAccessTokenVerifier,
  createVerifierCache,
  type KeySet,
  type VerifyAccessToken,
} from '@auth-account/verifier/access-token';
import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { newSeeds } from '../model/new-seeds.ts';
import { createForger, type Forger, newSigningKey } from '../support/api/token-forger.ts';
import { forgeriesOf, spellingsOf } from './forgeries/token-forgeries.ts';

/** Tests the verifier that the api and the gateway share. forged-tokens-wire.test.ts tests over the wire. */
describe.each(['EdDSA', 'ES256'] as const)('forged tokens if a key of %s signs', (algorithm) => {
  const at = 1_800_000_000;
  const settings = { issuer: 'https://auth.local', audience: 'food-storage' };
  const key = newSigningKey(algorithm, 'key-2026');
  /** A key of the other algorithm, which verifies too, as during a rotation. */
  const next = newSigningKey(algorithm === 'EdDSA' ? 'ES256' : 'EdDSA', 'key-2027');
  const forger: Forger = createForger({ ...settings, key, sessionId: randomUUID(), at });
  /** The verifier as the services use it, with the genuine token cached. */
  let verify: VerifyAccessToken;

  beforeAll(async () => {
    const keys: KeySet = { keys: [key, next] };
    const now = () => at * 1_000;
    const bare = await createAccessTokenVerifier({ ...settings, ttlSeconds: 600, keys, now });
    verify = createVerifierCache(bare, { keys, now, maxEntries: 100 });
  });

  /** Returns the answer to a token if it is not the contract's 401. */
  async function faultOf(token: string): Promise<string | undefined> {
    try {
      await verify(token);
      return `accepted: ${token}`;
    } catch (error) {
      const isRefused = isAppError(error) && error.status === 401 && error.code.startsWith('IAD_JWT_ACCESS_');
      return isRefused ? undefined : `${String(error)}: ${token}`;
    }
  }

  test('the genuine token, of which the forged tokens are made, is accepted', async () => {
    expect(await verify(forger.genuine)).toMatchObject({ sid: forger.material.sessionId });
  });

  // guarantees: forged-access-token
  test('a token counts by the algorithm of its key alone, whichever keys verify besides', async () => {
    const { header, claims, otherAlgorithm: alg, signed } = forger;
    expect(await faultOf(signed({ ...header, alg, kid: next.kid }, claims, next))).toMatch(/^accepted/);
    const forged = [key, next].flatMap((by) => [
      signed({ ...header, alg, kid: key.kid }, claims, by),
      signed({ ...header, kid: next.kid }, claims, by),
    ]);
    const crossed = [signed(header, claims, next), signed({ ...header, alg, kid: next.kid }, claims, key)];
    expect(await Promise.all([...forged, ...crossed].map(faultOf))).toEqual(Array(6).fill(undefined));
  });

  // guarantees: forged-access-token
  test('each of more than 10,000 forged tokens is refused by 401', async () => {
    const kinds = { ...forgeriesOf(forger), ...spellingsOf(forger) };
    const tokens = new Set(Object.values(kinds).flat());
    expect(tokens.has(forger.genuine)).toBe(false);
    const faults: string[] = [];
    for (const token of tokens) {
      const fault = await faultOf(token);
      if (fault !== undefined) faults.push(fault);
    }
    expect(faults).toEqual([]);
    if (process.env.MODEL_FIGURES) {
      console.log(tokens.size, Object.fromEntries(Object.entries(kinds).map(([kind, all]) => [kind, all.length])));
    }
    expect(tokens.size).toBeGreaterThanOrEqual(10_000);
  });

  test('each forged token that fast-check generates is refused by 401', async () => {
    const { header, claims } = forger;
    const tampered = (value: object) =>
      fc
        .tuple(fc.constantFrom(...Object.keys(value)), fc.jsonValue())
        .map(([name, odd]) => ({ ...value, [name]: odd }));
    const json = fc.oneof(fc.jsonValue(), fc.dictionary(fc.string(), fc.jsonValue()));
    const signature = fc.oneof(fc.uint8Array({ maxLength: 80 }), fc.uint8Array({ minLength: 64, maxLength: 64 }));
    const forged = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.tuple(json, json, signature).map(([head, body, bytes]) => forger.sealed(head, body, Buffer.from(bytes))),
      fc.tuple(tampered(claims), signature).map(([body, bytes]) => forger.sealed(header, body, Buffer.from(bytes))),
      fc.tuple(tampered(header), json).map(([head, body]) => forger.signed(head, body, forger.retired)),
      fc.tuple(json, json).map(([head, body]) => forger.signed(head, body)),
      tampered(claims).map((body) => forger.signed(header, body, forger.retired)),
    );
    await fc.assert(
      fc.asyncProperty(forged, async (token) => {
        expect(await faultOf(token)).toBeUndefined();
      }),
      { numRuns: 500, ...newSeeds()() },
    );
  });
});
