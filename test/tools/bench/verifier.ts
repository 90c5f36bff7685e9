import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { createAccessTokenSigner, generateSigningKey } from '@auth-account/tokens';
import { createVerifier, type Denied, type RevocationSource } from '@auth-account/verifier';
import { publicKeySet } from '@auth-account/verifier/access-token';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { median } from '../../support/area-under-curve.ts';
import { audience, someClaims } from '../../support/verifier/verifier-fixture.ts';

/**
 * `npm run bench verifier`: measures the microseconds that a resource server's verifier takes for a call, beside jose's
 * bare verification in the same rounds, and the memory of a million denials.
 */
const tokens = 2_000;
const rounds = 7;
const million = 1_000_000;

const keys = { keys: [await generateSigningKey('ES256')] } as const;
const jwks = publicKeySet(keys);
const server = createServer((req, res) => res.end(JSON.stringify(req.url === '/keys' ? jwks : metadata)));
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const metadata = {
  issuer,
  jwks_uri: `${issuer}/keys`,
  access_token_signing_alg_values_supported: ['ES256'],
  access_token_max_lifetime_seconds: 600,
};
const sign = createAccessTokenSigner({ keys, issuer, audience, ttlSeconds: 600 });
const newTokens = () => Array.from({ length: tokens }, () => sign({ ...someClaims, sid: randomUUID() }));

/** Creates a source of `count` denials, in pages, and of none afterwards. */
function sourceOf(count: number): RevocationSource {
  // A flat string, as it comes from a socket, because `randomUUID` returns a tree of pieces.
  const newId = () => Buffer.from(randomUUID()).toString('latin1');
  let left = count;
  return {
    async read() {
      await setImmediate(); // the issuer, in this process, must answer meanwhile
      const length = Math.min(left, 1_000);
      left -= length;
      const newDenial = (): Denied => ({ sessionId: newId(), below: Number.POSITIVE_INFINITY });
      return { denied: Array.from({ length }, newDenial), cursor: 0, hasMore: left > 0 };
    },
    close: () => undefined,
  };
}

const open = (count: number, cacheEntries: number) =>
  createVerifier({ issuer, audience, revocations: sourceOf(count), cacheEntries });

async function microseconds(all: readonly string[], verify: (token: string) => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  for (const token of all) await verify(token);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / all.length;
}

const bareKeys = createLocalJWKSet(jwks as unknown as JSONWebKeySet);
const options = { issuer, audience, algorithms: ['ES256'], typ: 'at+jwt' };
const [uncached, cached] = [open(0, 0), open(0, 5_000)];
const figures: Record<'jose' | 'first' | 'again', number>[] = [];
for (let round = 0; round < rounds + 1; round += 1) {
  const all = newTokens();
  const jose = await microseconds(all, (token) => jwtVerify(token, bareKeys, options));
  const first = await microseconds(all, uncached.verify);
  for (const token of all) await cached.verify(token);
  figures.push({ jose, first, again: await microseconds(all, cached.verify) });
}
figures.shift(); // the first round only warms up
const medianFor = (what: 'jose' | 'first' | 'again') => median(figures.map((round) => round[what])).toFixed(1);
console.log(`CPU of a call, median of ${rounds} rounds of ${tokens} tokens, in microseconds`);
console.log(`  jose's jwtVerify alone          ${medianFor('jose')}`);
console.log(`  the verifier, a new token       ${medianFor('first')}`);
console.log(`  the verifier, a token again     ${medianFor('again')}`);

const collect = () => (globalThis as { gc?: () => void }).gc?.();
collect();
const before = process.memoryUsage().heapUsed;
const full = open(million, 0);
await full.verify(newTokens()[0] ?? '');
collect();
const used = process.memoryUsage().heapUsed - before;
console.log(
  `${full.state().denials} denials: ${(used / 2 ** 20).toFixed(0)} MiB, ${(used / million).toFixed(0)} bytes each`,
);
const all = newTokens();
for (const token of all) await full.verify(token);
console.log(`  the verifier with them, a new token ${(await microseconds(all, full.verify)).toFixed(1)} µs`);
for (const verifier of [uncached, cached, full]) verifier.close();
server.close();
server.closeAllConnections();
