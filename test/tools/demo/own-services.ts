import { redisKeys, workerOptions } from '@auth-account/redis';
import { Redis } from 'ioredis';
import { MongoClient } from 'mongodb';
import { poll } from './demo-stack.ts';
import { startExampleConsumer } from './example-consumer.ts';

/** The example consumer for the demo's own stack. */
export interface OwnServices {
  /** Resolves with the consumer's message about the group. Rejects if there is none within 60 s. */
  waitForLine(groupId: string): Promise<string>;
  close(): Promise<void>;
}

const { LOCAL_MONGO_PORT = '27117', LOCAL_REDIS_PORT = '6479', KEY_PREFIX = 'auth' } = process.env;
const { MONGODB_URI = `mongodb://127.0.0.1:${LOCAL_MONGO_PORT}/?replicaSet=rs0` } = process.env;
const { REDIS_URL = `redis://127.0.0.1:${LOCAL_REDIS_PORT}` } = process.env;

/** Opens the consumer on the stack's servers, with a separate database. */
export async function startOwnServices(subscriber: string): Promise<OwnServices> {
  const mongo = new MongoClient(MONGODB_URI);
  const redis = new Redis(REDIS_URL, workerOptions());
  redis.on('error', (error) => console.error(`the example consumer has no Redis: ${error.message}`));
  const lines: string[] = [];
  const consumer = await startExampleConsumer({
    mongo,
    db: mongo.db('kitchen'),
    redis,
    keys: redisKeys(KEY_PREFIX),
    subscriber,
    say: (line) => lines.push(line),
  });
  return {
    waitForLine: (groupId) => poll("the consumer's message", () => lines.find((said) => said.endsWith(groupId))),
    async close() {
      await consumer.close();
      redis.disconnect();
      await mongo.close();
    },
  };
}
