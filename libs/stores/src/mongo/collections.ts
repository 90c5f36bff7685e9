import type { Collection, Db } from 'mongodb';
import type {
  ChallengeDocument,
  ConsumedProofDocument,
  DeadLetterDocument,
  ErasedSessionDocument,
  GroupDocument,
  IdempotencyDocument,
  InviteDocument,
  OutboxDocument,
  ProviderRevocationDocument,
  SessionDocument,
  SubscriberDocument,
  UpgradeDocument,
  UserDocument,
} from '../documents.ts';

/** Typed collections of the database; only this file knows their names. */
export interface Collections {
  readonly users: Collection<UserDocument>;
  readonly groups: Collection<GroupDocument>;
  readonly invites: Collection<InviteDocument>;
  readonly sessions: Collection<SessionDocument>;
  readonly erasedSessions: Collection<ErasedSessionDocument>;
  readonly idempotency: Collection<IdempotencyDocument>;
  readonly challenges: Collection<ChallengeDocument>;
  readonly consumedProofs: Collection<ConsumedProofDocument>;
  readonly providerRevocations: Collection<ProviderRevocationDocument>;
  readonly outbox: Collection<OutboxDocument>;
  readonly deadLetters: Collection<DeadLetterDocument>;
  readonly subscribers: Collection<SubscriberDocument>;
  readonly upgrades: Collection<UpgradeDocument>;
}

/** Returns the collections of a database. Opens nothing. */
export function collectionsOf(db: Db): Collections {
  return {
    users: db.collection('users'),
    groups: db.collection('groups'),
    invites: db.collection('invites'),
    sessions: db.collection('user_sessions'),
    erasedSessions: db.collection('erased_sessions'),
    idempotency: db.collection('idempotency'),
    challenges: db.collection('challenges'),
    consumedProofs: db.collection('spent_proofs'),
    providerRevocations: db.collection('provider_revocations'),
    outbox: db.collection('outbox'),
    deadLetters: db.collection('dead_letters'),
    subscribers: db.collection('subscribers'),
    upgrades: db.collection('upgrades'),
  };
}
