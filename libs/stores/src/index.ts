export { closeReasonOf, type RevocationCloseReason } from './close-reason.ts';
export { type Collections, collectionsOf } from './collections.ts';
export { connectMongo } from './connect-mongo.ts';
export {
  createDeadLetterStore,
  type DeadLetterFilter,
  type DeadLetterStore,
  type GivenUp,
} from './dead-letter-store.ts';
export type {
  DeadLetterDocument,
  DeliveryAttempt,
  GroupDocument,
  IdempotencyDocument,
  InviteDocument,
  OutboxDocument,
  RevocationReason,
  SessionClaims,
  SessionDocument,
  SubscriberDocument,
  UserDocument,
} from './documents.ts';
export type { ChangedSession, FencedSessions, RevokedSession } from './fenced-sessions.ts';
export { createGroupStore, type GroupStore } from './group-store.ts';
export { createIdempotencyStore, type IdempotencyStore } from './idempotency-store.ts';
export { ensureIndexes, type IndexFault, missingIndexes } from './indexes.ts';
export { createInviteStore, type InviteState, type InviteStore, inviteState } from './invite-store.ts';
export { mongoOptions } from './mongo-options.ts';
export {
  createOutboxStore,
  type OutboxFilter,
  type OutboxStore,
  publishGraceMs,
  type RecordedAttempt,
} from './outbox-store.ts';
export { recordedEnd } from './recorded-end.ts';
export { createReplay, type Replay, type ReplayOrder } from './replay.ts';
export { type RunTransaction, runTransaction, type TransactionOutcome } from './run-transaction.ts';
export {
  type ClaimsVersion,
  createSessionStore,
  type OwnedSession,
  type OwnSession,
  type Revocation,
  type Rotation,
  type SessionStore,
  type SessionSummary,
} from './session-store.ts';
export { isBrokenSocket, isDuplicateKey, isStoreUnavailable } from './store-errors.ts';
export { createSubscriberStore, type SubscriberStore } from './subscriber-store.ts';
export { createKeyedLock } from './transactions/keyed-lock.ts';
export { createUserStore, emailKey, type GroupMember, type Membership, type UserStore } from './user-store.ts';
