export { type Collections, collectionsOf } from './collections.ts';
export { connectMongo } from './connect-mongo.ts';
export type {
  GroupDocument,
  GroupRole,
  InviteDocument,
  OutboxDocument,
  RevocationReason,
  SessionClaims,
  SessionDocument,
  UserDocument,
} from './documents.ts';
export { createGroupStore, type GroupStore } from './group-store.ts';
export { createIdempotencyStore, type IdempotencyStore } from './idempotency-store.ts';
export { ensureIndexes } from './indexes.ts';
export { createInviteStore, type InviteState, type InviteStore, inviteState } from './invite-store.ts';
export { mongoOptions } from './mongo-options.ts';
export { createOutboxStore, handOverGraceMs, type OutboxStore } from './outbox-store.ts';
export { type RunTransaction, runTransaction } from './run-transaction.ts';
export {
  createSessionStore,
  type OwnedSession,
  type OwnSession,
  type Revocation,
  type RevokedSession,
  type Rotation,
  type SessionStore,
  type SessionSummary,
} from './session-store.ts';
export { isDuplicateKey, isStoreUnavailable } from './store-errors.ts';
export { createUserStore, emailKey, type UserStore } from './user-store.ts';
