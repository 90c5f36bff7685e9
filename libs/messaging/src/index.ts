export { type CloseCommand, type GatewayCommand, parseCommand, type ReplaceCommand } from './commands.ts';
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
  type ForceLogoutQueue,
  openForceLogoutQueue,
  parseForceLogout,
  requestForceLogout,
} from './force-logout.ts';
export { createCommandPublisher } from './publish-commands.ts';
export {
  addEvent,
  consumedJobOptions,
  type EventQueue,
  eventJobOptions,
  openEventQueue,
  reliableWorkerOptions,
  subscriberQueueName,
} from './queues.ts';
export { type RedisKeys, redisKeys } from './redis-keys.ts';
export { failFastOptions, subscriberOptions, workerOptions } from './redis-options.ts';
export { createRegisteredEvent } from './registered-event.ts';
export { createStreamNumbers } from './stream-numbers.ts';
