export { closeReasonOf, type RevocationCloseReason, recordedEnd } from './close-reason.ts';
export { type Collections, collectionsOf } from './collections.ts';
export { connectMongo, mongoOptions } from './connect-mongo.ts';
export { createDatabaseClock, type DatabaseClock, reportClock } from './database-clock.ts';
export type { DeadLetterStore } from './dead-letter-store.ts';
export { emailAsMeant, emailKey } from './email-key.ts';
export { createFence, type Fence } from './fence.ts';
export type { ChangedSession, FencedSessions, RevokedSession } from './fenced-sessions.ts';
export type { GroupStore } from './group-store.ts';
export type { IdempotencyStore } from './idempotency-store.ts';
export { ensureIndexes, missingIndexes } from './indexes.ts';
export { type InviteState, type InviteStore, inviteState } from './invite-store.ts';
export { type OutboxStore, publishGraceMs, type RecordedAttempt } from './outbox-store.ts';
export type { PresentUser } from './present-user.ts';
export type { OwnedSession, OwnSession, Revocation, TrustKeepingRevocation } from './session-revocations.ts';
export type { SessionStore, SessionSummary } from './session-store.ts';
export { isBrokenSocket, isDuplicateKey, isStoreUnavailable } from './store-errors.ts';
export { createStores, type Stores } from './stores.ts';
export type { SubscriberStore } from './subscriber-store.ts';
export {
  createTransactionRunner,
  defaultDeadlineMs,
  type RunTransaction,
  type TransactionHooks,
  type TransactionRequest,
} from './transactions/run-transaction.ts';
export type { UserStore } from './user-store.ts';
