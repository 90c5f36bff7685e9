export { listDeadLetters, listEvents, showEvent } from './list-events.ts';
export { planReplay, type ReplayOptions } from './replay-events.ts';
export {
  type EventContext,
  listSubscribers,
  planDiscard,
  planResumption,
  planRetry,
  planSuspension,
} from './subscribers.ts';
