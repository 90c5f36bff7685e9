import { redisKeys, workerOptions } from '@auth-account/redis';
import { Redis } from 'ioredis';
import { type ClientSession, MongoClient } from 'mongodb';
import { startExampleConsumer } from '../../tools/demo/example-consumer.ts';

/**
 * Runs the example consumer as a process. With HANG_AT=commit it hangs after its first effect and before the commit,
 * with HANG_AT=acknowledgement after the commit and before the job completes. It reports the hang on standard output.
 */
const { MONGODB_URI = '', MONGODB_DATABASE = '', REDIS_URL = '', KEY_PREFIX = '', HANG_AT } = process.env;
const { SUBSCRIBER = '' } = process.env;

const mongo = new MongoClient(MONGODB_URI, { appName: SUBSCRIBER });
const hang = () => {
  console.log(`hangs before ${HANG_AT}`);
  return new Promise<never>(() => undefined);
};
await startExampleConsumer({
  mongo,
  db: mongo.db(MONGODB_DATABASE),
  redis: new Redis(REDIS_URL, workerOptions()),
  keys: redisKeys(KEY_PREFIX),
  subscriber: SUBSCRIBER,
  say: console.log,
  around: {
    ...(HANG_AT === 'commit' ? { afterEffect: hang } : {}),
    inbox: (inbox) => ({
      async once(entry, effect: (session: ClientSession) => Promise<void>) {
        const outcome = await inbox.once(entry, effect);
        return HANG_AT === 'acknowledgement' ? hang() : outcome;
      },
    }),
  },
});
