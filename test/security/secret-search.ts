import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { BSON, type Db } from 'mongodb';

/** Text by the place where it was found. */
export type Places = Record<string, string>;

/** Returns every document of every collection. */
export async function dumpMongo(db: Db): Promise<Places> {
  const places: Places = {};
  for (const { name } of await db.listCollections().toArray()) {
    const documents = await db.collection(name).find().toArray();
    places[`MongoDB ${name}`] = documents.map((document) => BSON.EJSON.stringify(document)).join('\n');
  }
  return places;
}

/** Returns every key that matches, with its value of any type. */
export async function dumpRedis(redis: Redis, pattern = '*'): Promise<Places> {
  const places: Places = {};
  for (const key of await redis.keys(pattern))
    places[`Redis ${key}`] = `${key} ${JSON.stringify(await readValue(redis, key))}`;
  return places;
}

async function readValue(redis: Redis, key: string): Promise<unknown> {
  switch (await redis.type(key)) {
    case 'string':
      return redis.get(key);
    case 'hash':
      return redis.hgetall(key);
    case 'list':
      return redis.lrange(key, 0, -1);
    case 'set':
      return redis.smembers(key);
    case 'zset':
      return redis.zrange(key, '0', '-1', 'WITHSCORES');
    case 'stream':
      return redis.xrange(key, '-', '+');
    default:
      // The key was removed after it was listed.
      return null;
  }
}

const digests = ['md5', 'sha1', 'sha256', 'sha512'] as const;

/** Returns the forms in which a secret might be written: plain, encoded, or as a fast hash, which allows guessing. */
function formsOf(secret: string): Map<string, string> {
  const bytes = Buffer.from(secret);
  // Without the ends, whose base64 depends on the surrounding text.
  const inner = bytes.subarray(3, bytes.length - (bytes.length % 3));
  const forms = new Map([
    ['plain', secret],
    ['percent-encoded', encodeURIComponent(secret)],
    ['hex', bytes.toString('hex')],
    ['base64', bytes.toString('base64').replace(/=+$/, '')],
    ['base64url', bytes.toString('base64url')],
    ['base64 of a part', inner.toString('base64').replace(/=+$/, '')],
  ]);
  for (const digest of digests) {
    for (const encoding of ['hex', 'base64', 'base64url'] as const) {
      forms.set(`${digest} in ${encoding}`, createHash(digest).update(bytes).digest(encoding).replace(/=+$/, ''));
    }
  }
  return forms;
}

/** Returns where the secrets were found, as `label (form) in place`, without the secrets themselves. */
export function findSecrets(secrets: ReadonlyMap<string, string>, places: Places): string[] {
  const found = new Set<string>();
  for (const [label, secret] of secrets) {
    for (const [form, text] of formsOf(secret)) {
      for (const [place, content] of Object.entries(places)) {
        if (content.includes(text)) found.add(`${label} (${form}) in ${place}`);
      }
    }
  }
  return [...found].sort();
}
