export { emailAsMeant, emailKey } from './account/email-key.ts';
export type { PresentUser } from './account/present-user.ts';
export type { UserStore } from './account/user-store.ts';
export type { GroupStore } from './group/group-store.ts';
export { type InviteState, type InviteStore, inviteRef, inviteState } from './group/invite-store.ts';
export { type Collections, collectionsOf } from './mongo/collections.ts';
export { connectMongo, mongoOptions } from './mongo/connect-mongo.ts';
export { createDatabaseClock, type DatabaseClock, reportClock } from './mongo/database-clock.ts';
export { createFence, type Fence } from './mongo/fence.ts';
export type { ChangedSession, FencedSessions, RevokedSession } from './mongo/fenced-sessions.ts';
export { ensureIndexes, missingIndexes } from './mongo/indexes.ts';
export { isBrokenSocket, isDuplicateKey, isStoreUnavailable } from './mongo/store-errors.ts';
export type { DeadLetterStore } from './outbox/dead-letter-store.ts';
export { type OutboxStore, publishGraceMs, type RecordedAttempt } from './outbox/outbox-store.ts';
export type { SubscriberStore } from './outbox/subscriber-store.ts';
export { closeReasonOf, type RevocationCloseReason, recordedEnd } from './session/close-reason.ts';
export type { OwnedSession, OwnSession, Revocation, TrustKeepingRevocation } from './session/session-revocations.ts';
export type { SessionStore, SessionSummary } from './session/session-store.ts';
export { createStores, type Stores } from './stores.ts';
export type { IdempotencyStore } from './transactions/idempotency-store.ts';
export {
  createTransactionRunner,
  defaultDeadlineMs,
  type RunTransaction,
  type TransactionHooks,
  type TransactionRequest,
} from './transactions/run-transaction.ts';
