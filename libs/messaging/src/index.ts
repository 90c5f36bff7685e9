export {
  type AccountEventOrigin,
  createAccountEvent,
  createRegisteredEvent,
  eventOrigin,
} from './events/create-events.ts';
export { isExpired, mustArrive } from './events/delivery-rules.ts';
export {
  type ChannelConsumerOptions,
  type ConsumerReport,
  createEventConsumer,
  type EventConsumer,
  type EventConsumerOptions,
  type HandlerContext,
  type Inbox,
  type InboxEntry,
} from './events/event-consumer.ts';
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
} from './events/queues.ts';
export {
  type ForceLogoutQueue,
  type ForceLogoutResult,
  openForceLogoutQueue,
  parseForceLogout,
  requestForceLogout,
} from './force-logout/force-logout.ts';
export {
  awaitForceLogout,
  type ForceLogoutJobStatus,
  type ForceLogoutState,
  findForceLogout,
  listForceLogouts,
} from './force-logout/force-logout-jobs.ts';
export {
  createPushMessagePublisher,
  factorRemovalMessage,
  type PushContent,
  type PushMessagePublisher,
  parsePushMessage,
} from './push/push-messages.ts';
