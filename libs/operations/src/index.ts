export type { Mongo, RedisStore } from './context.ts';
export { OperationError, type OperationErrorCode, toOperationError, unavailable } from './operation-error.ts';
export { findNameFault, findReasonFault } from './operator.ts';
export type { Plan } from './plan.ts';
