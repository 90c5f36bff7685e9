import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { waitUntil } from '@auth-account/local-stack';
import { openRedis, workerOptions } from '@auth-account/redis';
import { ensureIndexes } from '@auth-account/stores';
import { Binary, type Collection, type Document, Timestamp } from 'mongodb';
import { newEmail, password } from '../../support/api/accounts.ts';
import { bearer, drive } from '../../support/api/api-driver.ts';
import { answerTo, begin, keepConnections } from '../../support/http-client.ts';
import { startTestStack } from '../../support/processes/test-stack.ts';
import { startTestServers } from '../../support/stores/start-test-servers.ts';

/**
 * `npm run bench footprint`: counts what one operation writes and sends, by the servers'
 * own counters, on a running stack with one webhook. These are bytes of MongoDB's oplog, commands to Redis (including
 * those of scripts and deliveries), bytes of its append-only file, and bytes of HTTP. Then it measures the size of each
 * kind of document, on copies of a real one with different ids. docs/scaling.md has these figures.
 */
const [count, copies] = [200, 100_000];

const servers = await startTestServers();
const stack = await startTestStack({ LOG_LEVEL: 'warn' });
const redis = openRedis({ REDIS_URL: stack.redis.url }, workerOptions());
const { db } = stack.collections.users;
const oplog: Collection<{ ts: Timestamp }> = db.client.db('local').collection('oplog.rs');
const agent = keepConnections({ maxSockets: 1 });
const [last] = await oplog.find().sort({ $natural: -1 }).limit(1).toArray();
const begun = last?.ts ?? new Timestamp(0n);
let wire = 0;

/** Sends a request on the one connection, and counts the bytes in both directions. */
const api = drive(async ({ body, headers, ...head }) => {
  const needed = { 'Content-Type': 'application/json', 'X-Request-ID': randomUUID() };
  const sent = begin(stack.apiUrl, { ...head, agent, headers: { ...needed, ...headers } });
  let before = 0;
  sent.on('socket', ({ bytesRead, bytesWritten }) => {
    before = bytesRead + bytesWritten;
  });
  const answer = JSON.parse((await answerTo(sent.end(body === undefined ? undefined : JSON.stringify(body)))).text);
  wire += (sent.socket?.bytesRead ?? 0) + (sent.socket?.bytesWritten ?? 0) - before;
  if (answer.data === undefined) throw new Error(`${head.path} answered ${JSON.stringify(answer)}`);
  return answer.data;
});

/** Returns the totals since the start. */
async function counters() {
  const commands = [...(await redis.info('commandstats')).matchAll(/^cmdstat_\S+:calls=(\d+)/gm)];
  const aof = /^aof_current_size:(\d+)/m.exec(await redis.info('persistence'))?.[1];
  const sum = { $group: { _id: null, bytes: { $sum: { $bsonSize: '$$ROOT' } } } };
  const [entries] = await oplog.aggregate([{ $match: { ts: { $gt: begun } } }, sum]).toArray();
  return {
    ...{ ms: performance.now(), oplog: Number(entries?.bytes ?? 0), wire },
    ...{ commands: commands.reduce((all, [, calls]) => all + Number(calls), 0), aof: Number(aof ?? 0) },
  };
}

type Counters = Awaited<ReturnType<typeof counters>>;

/** Runs the work, and returns what all have used meanwhile. */
async function during(work: () => Promise<unknown>): Promise<(what: keyof Counters) => number> {
  const before = await counters();
  await work();
  const after = await counters();
  return (what) => after[what] - before[what];
}

const areEventsDelivered = async () => (await stack.collections.outbox.countDocuments({ state: 'pending' })) === 0;

/** Prints what the operation uses beyond what the idle stack uses in the same time. */
async function measure(name: string, run: (index: number) => Promise<unknown>): Promise<void> {
  const own = await during(() => pause(3_000));
  const used = await during(async () => {
    for (let index = 0; index < count; index += 1) await run(index);
    await waitUntil(areEventsDelivered, { what: 'the delivery of its events', timeoutMs: 30_000, intervalMs: 100 });
  });
  const each = (what: keyof Counters) => Math.round((used(what) - (own(what) * used('ms')) / own('ms')) / count);
  console.log(
    `${name}: oplog ${each('oplog')} B, Redis ${each('commands')} commands, AOF ${each('aof')} B, HTTP ${each('wire')} B`,
  );
}

/** Prints the size of the collection's documents, measured on copies with different ids and secrets. */
async function measureSize(collection: Collection<Document>, own: (example: Document) => Document): Promise<void> {
  const example = await collection.findOne({}, { sort: { _id: -1 } });
  if (example === null) throw new Error(`${collection.collectionName} is empty`);
  const scratch = db.client.db(`${db.databaseName}-sizes`);
  await ensureIndexes(scratch);
  const target = scratch.collection(collection.collectionName);
  for (let done = 0; done < copies; done += 5_000) {
    const documents = Array.from({ length: Math.min(5_000, copies - done) }, () => ({ ...example, ...own(example) }));
    await target.insertMany(documents as never);
  }
  await scratch.admin().command({ fsync: 1 });
  const { avgObjSize, storageSize, totalIndexSize } = await scratch.command({ collStats: collection.collectionName });
  const [disk, index] = [storageSize, totalIndexSize].map((bytes) => Math.round(bytes / copies));
  console.log(`${collection.collectionName}: BSON ${Math.round(avgObjSize)} B, on disk ${disk} B, indexes ${index} B`);
  await scratch.dropDatabase();
}

try {
  const emails = Array.from({ length: count }, newEmail);
  const device_id = randomUUID();
  const sessions: { access_token: string; refresh_token: string }[] = [];
  await measure('register', (i) =>
    api.registerAccount({ email: emails[i], password, device_id, space_creation_mode: 'CREATE_NEW_HOME' }),
  );
  await measure('login', async (i) => {
    sessions[i] = await api.logIn({ email: emails[i], password, device_id, platform: 'ios' });
  });
  await measure('session read', (i) => api.listSessions(bearer(sessions[i]?.access_token ?? '')));
  // Each session refreshes eight times, so that one of its refreshes needs a new block of hashes.
  await measure('refresh', async (i) => {
    const place = Math.floor(i / 8);
    sessions[place] = await api.refreshTokens({ refresh_token: sessions[place]?.refresh_token });
  });
  await measure('logout', (i) =>
    api.logOut({ refresh_token: sessions[i]?.refresh_token }, bearer(sessions[i]?.access_token ?? '')),
  );
  const { users, groups, outbox } = stack.collections;
  const address = () => {
    const email = newEmail();
    return { _id: randomUUID(), email, email_key: email, password_hash: randomBytes(48).toString('base64') };
  };
  const secret = (bytes: number) => randomBytes(bytes).toString('base64url');
  await measureSize(users as never, () => ({ ...address(), home_group_id: randomUUID() }));
  await measureSize(groups as never, () => ({ _id: randomUUID(), owner_id: randomUUID() }));
  await measureSize(stack.collections.sessions as never, () => ({
    ...{ _id: randomUUID(), user_id: randomUUID(), device_id: randomUUID(), token: secret(32) },
    ...{ nonce: new Binary(randomBytes(32)), ahead: { kid: 'key-1', block: 1, hashes: secret(258) } },
  }));
  await measureSize(outbox as never, ({ event }) => {
    const [id, requestid, user_id, home_group_id] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    const data = { ...event.data, user_id, home_group_id };
    return { _id: id, event: { ...event, id, requestid, subject: user_id, data } };
  });
} finally {
  agent.destroy();
  redis.disconnect();
  await stack.close();
  await servers.stop();
}
