import { registeredTopic } from '@auth-account/contracts';
import { subscriberQueueName } from '@auth-account/messaging';
import { redisKeys } from '@auth-account/redis';

// The names of docs/consumers.md.
export const subscriber = 'kitchen';
export const keys = redisKeys('auth');
export const queueName = subscriberQueueName(registeredTopic, subscriber);

/** Matches Redis's refusals of a command: alone, within a script of Redis 7, and within a script of Redis 6. */
export const refusal = /NOPERM|ACL failure in script|The user executing the script can't/;
