export { listDeadLetters, listEvents, showEvent } from './list-events.ts';
export { planReplay, type ReplayOptions } from './replay-events.ts';
export {
  type EventContext,
  listSubscribers,
  planDiscard,
  resumeSubscriber,
  retrySubscriber,
  suspendSubscriber,
} from './subscribers.ts';
