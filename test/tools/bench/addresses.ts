import { parseArgs } from 'node:util';
import { collectionsOf, createTransactionRunner, ensureIndexes, mongoOptions } from '@auth-account/stores';
import { type ClientSession, type Collection, MongoClient } from 'mongodb';
import { newAccountSeed } from '../../support/seed-accounts.ts';
import { startTestServers } from '../../support/start-test-servers.ts';
import { storesOf } from '../../support/stores-of.ts';
import { newEvent } from '../../support/worker-events.ts';
import { runAtOnce } from './at-once.ts';
import { medianOf } from './cost/median-of.ts';
import { countCpu } from './push/process-usage.ts';

/**
 * `npm run bench addresses [-- --users N] [-- --count N]`: compares today's unique index with a collection of addresses
 * whose `_id` is the `email_key`. Measures side by side MongoDB's CPU for a registration's transaction and for a
 * login's look-up, and then bytes on disk for each account. See docs/scaling.md, "MongoDB sharding".
 */
const { values } = parseArgs({
  options: { users: { type: 'string', default: '100000' }, count: { type: 'string', default: '1500' } },
});
const [users, count] = [Number(values.users), Number(values.count)];
const rounds = 5;
const atOnce = 4;
const insertBatch = 5_000;

interface Address {
  readonly _id: string;
  readonly user_id: string;
}
type Seed = ReturnType<typeof newAccountSeed>;

const servers = await startTestServers(() => undefined);
const client = new MongoClient(servers.mongo.uri, mongoOptions('bench', servers.mongo.uri));

/**
 * Creates a database with the accounts. If `byAddress`, addresses are in their own collection, and the accounts have no
 * index on them.
 */
async function openGround(name: string, byAddress: boolean) {
  const db = client.db(name);
  await ensureIndexes(db);
  const collections = collectionsOf(db);
  const addresses: Collection<Address> = db.collection('emails');
  if (byAddress) await collections.users.dropIndex('email_key_unique');
  const toAddress = ({ user }: Seed) => ({ _id: user.email_key, user_id: user._id });
  const seeds: Seed[] = [];
  for (let done = 0; done < users; done += insertBatch) {
    const batch = Array.from({ length: Math.min(insertBatch, users - done) }, () => newAccountSeed('x'.repeat(97)));
    await collections.users.insertMany(batch.map(({ user }) => user));
    if (byAddress) await addresses.insertMany(batch.map(toAddress));
    seeds.push(...batch);
  }
  const { outbox } = storesOf(collections);
  async function register() {
    const seed = newAccountSeed('x'.repeat(97));
    const work = async (session: ClientSession) => {
      if (byAddress) await addresses.insertOne(toAddress(seed), { session });
      await collections.users.insertOne(seed.user, { session });
      await collections.groups.insertOne(seed.group, { session });
      await outbox.append(newEvent(), new Date(), session);
    };
    await createTransactionRunner(client)(work, { isCommitted: async () => false });
  }
  async function findByEmail(index: number) {
    const email_key = seeds[(index * 7_919) % seeds.length]?.user.email_key ?? '';
    if (!byAddress) return collections.users.findOne({ email_key });
    const address = await addresses.findOne({ _id: email_key });
    return collections.users.findOne({ _id: address?.user_id ?? '' });
  }
  async function bytesOnDisk(): Promise<number> {
    const { indexSizes } = await db.command({ collStats: 'users' });
    if (!byAddress) return indexSizes.email_key_unique;
    const { storageSize, totalIndexSize } = await db.command({ collStats: 'emails' });
    return storageSize + totalIndexSize;
  }
  return { register, findByEmail, bytesOnDisk };
}

/** Returns the CPU milliseconds of mongod for one run. */
async function cost(run: (index: number) => Promise<unknown>): Promise<number> {
  const mongodMs = countCpu(servers.mongo.pids());
  await runAtOnce({ count, atOnce }, run);
  return mongodMs() / count;
}

try {
  await client.connect();
  const grounds = { 'unique index': await openGround('indexed', false), addresses: await openGround('apart', true) };
  const kinds = ['register', 'findByEmail'] as const;
  const found = new Map<string, number[]>();
  // The first round warms up.
  for (let round = 0; round <= rounds; round += 1) {
    for (const kind of kinds) {
      for (const [name, ground] of Object.entries(grounds)) {
        const ms = await cost(ground[kind]);
        if (round > 0) found.set(`${kind}, ${name}`, [...(found.get(`${kind}, ${name}`) ?? []), ms]);
      }
    }
  }
  for (const [what, ms] of found) {
    console.log(`${what}: ${medianOf(ms).toFixed(3)} ms of MongoDB (${ms.map((each) => each.toFixed(2)).join(', ')})`);
  }
  await client.db('admin').command({ fsync: 1 });
  for (const [name, ground] of Object.entries(grounds)) {
    const bytes = await ground.bytesOnDisk();
    console.log(`${name}: ${(bytes / users).toFixed(0)} bytes on disk for an account`);
  }
} finally {
  await client.close();
  await servers.stop();
}
