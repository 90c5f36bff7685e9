import { registeredTopic } from '@auth-account/contracts';
import { startRedis } from '@auth-account/local-stack';
import { subscriberQueueName } from '@auth-account/messaging';
import { openRedis, redisKeys, workerOptions } from '@auth-account/redis';
import type { Redis } from 'ioredis';
import { openGuardedFolder } from '../processes/create-process-guard.ts';
import { readDocumentedAcl } from '../verifier/documented-acl.ts';

/** A separate Redis with the user that docs/consumers.md creates; the names here are those of the page. */
export interface ConsumerAclFixture {
  /** Client with all rights, like the services. */
  readonly admin: Redis;
  /** URL of Redis for the subscriber's user. */
  readonly url: string;
  close(): Promise<void>;
}

export const subscriber = 'kitchen';
const keyPrefix = 'auth';
export const keys = redisKeys(keyPrefix);
export const queueName = subscriberQueueName(registeredTopic, subscriber);

/** Matches Redis's refusals of a command: alone, within a script of Redis 7, and within a script of Redis 6. */
export const refusal = /NOPERM|ACL failure in script|The user executing the script can't/;

const password = 'secret';

export async function openConsumerAclFixture(): Promise<ConsumerAclFixture> {
  const { user, rightsFor } = readDocumentedAcl('consumers.md');
  const folder = await openGuardedFolder('consumer-acl');
  const server = await startRedis({ dir: folder.dir, log: () => undefined, onSpawn: folder.watch });
  const admin = openRedis({ REDIS_URL: server.url }, workerOptions()) as Redis;
  await admin.call('ACL', 'SETUSER', user, ...rightsFor(password));
  return {
    admin,
    url: server.url.replace('://', `://${user}:${password}@`),
    async close() {
      admin.disconnect();
      await server.kill();
      await folder.close();
    },
  };
}
