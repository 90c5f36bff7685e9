export type { Mongo, RedisStore, Use } from './context.ts';
export { OperationError, type OperationErrorCode, toOperationError, unavailable } from './operation-error.ts';
export { findNameFault, findReasonFault, type Operator } from './operator.ts';
export type { Plan } from './plan.ts';
