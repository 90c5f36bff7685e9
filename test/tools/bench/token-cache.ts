import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createAccessTokenSigner } from '@auth-account/tokens';
import {
  createAccessTokenVerifier,
  createVerifierCache,
  type KeyEntry,
  type VerifyAccessToken,
} from '@auth-account/verifier/access-token';

/**
 * `npm run bench token-cache`: measures the CPU (user and system, all threads) of verifying an access token, with and
 * without the cache, and the cache's memory.
 */

const tokenCount = 10_000;

const key = { ...generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }), kid: 'bench' } as KeyEntry;
const settings = {
  keys: { keys: [key] as const },
  algorithm: 'EdDSA',
  issuer: 'https://auth.local',
  audience: 'food-storage',
  ttlSeconds: 600,
} as const;
const sign = createAccessTokenSigner(settings);
const verify = await createAccessTokenVerifier(settings);
const tokens: string[] = [];
for (let index = 0; index < tokenCount; index += 1) {
  const ids = { user_id: randomUUID(), home_group_id: randomUUID(), sid: randomUUID(), device_id: randomUUID() };
  tokens.push(sign({ ...ids, account_type: 'HOME', ver: 1 }));
}

async function microsecondsEach(work: VerifyAccessToken): Promise<string> {
  const before = process.cpuUsage();
  for (const token of tokens) await work(token);
  const { user, system } = process.cpuUsage(before);
  return ((user + system) / tokenCount).toFixed(1);
}

function heapBytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

await microsecondsEach(verify);
const empty = heapBytes();
const cached = createVerifierCache(verify, { ...settings, maxEntries: tokenCount });
const table = [
  { case: 'without the cache', 'CPU µs per token': await microsecondsEach(verify) },
  { case: 'first sight (miss)', 'CPU µs per token': await microsecondsEach(cached) },
  { case: 'seen before (hit)', 'CPU µs per token': await microsecondsEach(cached) },
];
console.table(table);
console.log(`memory per remembered token: ${Math.round((heapBytes() - empty) / tokenCount)} bytes`);
