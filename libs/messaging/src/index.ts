export {
  type CloseRecord,
  type CloseRecorder,
  createCloseRecorder,
  findCloseRecords,
} from './close-records.ts';
export {
  type CloseCommand,
  encodeCommand,
  type GatewayCommand,
  parseCommand,
  type ReplaceCommand,
} from './commands.ts';
export {
  createDenyList,
  type Denial,
  type DenyEntry,
  type DenyList,
  type DenyListRebuild,
  DenyListUnavailable,
  denialLifetimeMs,
} from './deny-list.ts';
export {
  type ConsumerReport,
  createEventConsumer,
  type EventConsumer,
  type EventConsumerOptions,
  type HandlerContext,
} from './event-consumer.ts';
export {
  type ForceLogoutQueue,
  type ForceLogoutResult,
  openForceLogoutQueue,
  parseForceLogout,
  requestForceLogout,
} from './force-logout.ts';
export {
  awaitForceLogout,
  type ForceLogoutJobStatus,
  type ForceLogoutState,
  findForceLogout,
  listForceLogouts,
} from './force-logout-jobs.ts';
export type { Inbox, InboxEntry } from './inbox.ts';
export { openRedis, type RedisConfig } from './open-redis.ts';
export { createCommandPublisher } from './publish-commands.ts';
export {
  createPushMessagePublisher,
  type PushContent,
  type PushMessagePublisher,
  parsePushMessage,
} from './push-messages.ts';
export {
  addEvent,
  addEvents,
  consumedJobOptions,
  type EventJob,
  type EventQueue,
  eventIdOf,
  eventJobId,
  eventJobOptions,
  openEventQueue,
  reliableWorkerOptions,
  replayedAtOf,
  subscriberQueueName,
} from './queues.ts';
export { parseRedisAddress } from './redis-address.ts';
export { redisChecks } from './redis-checks.ts';
export { isCluster, primariesOf, publish, type RedisClient } from './redis-client.ts';
export { type RedisKeys, redisKeys } from './redis-keys.ts';
export { failFastOptions, type RedisSettings, subscriberOptions, workerOptions } from './redis-options.ts';
export { createRegisteredEvent } from './registered-event.ts';
export { createStreamNumbers } from './stream-numbers.ts';
export { createSubscription, type Subscription } from './subscription.ts';
