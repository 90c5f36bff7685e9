import type { UpgradeRecords } from '@auth-account/lifecycle/upgrade';
import { type ChallengeStore, createChallengeStore } from './challenge-store.ts';
import type { Collections } from './collections.ts';
import { type ConsumedProofStore, createConsumedProofStore } from './consumed-proof-store.ts';
import { createDeadLetterStore, type DeadLetterStore } from './dead-letter-store.ts';
import { createDeletionStore, type DeletionStore } from './deletion-store.ts';
import { createEmailChangeStore, type EmailChangeStore } from './email-change-store.ts';
import { createFactorRemovalStore, type FactorRemovalStore } from './factor-removal-store.ts';
import { createGroupStore, type GroupStore } from './group-store.ts';
import { createIdempotencyStore, type IdempotencyStore } from './idempotency-store.ts';
import { createIdentityStore, type IdentityStore } from './identity-store.ts';
import { createInviteStore, type InviteStore } from './invite-store.ts';
import { countKidsInUse, type KidInUse } from './kids-in-use.ts';
import { createMembershipStore, type MembershipStore } from './membership-store.ts';
import { createOutboxStore, type OutboxStore } from './outbox-store.ts';
import { createPasskeyStore, type PasskeyStore } from './passkey-store.ts';
import { createProviderRevocationStore, type ProviderRevocationStore } from './provider-revocation-store.ts';
import { createReplay, type Replay } from './replay.ts';
import { createSecondFactorStore, type SecondFactorStore } from './second-factor-store.ts';
import { createSessionStore, type SessionStore } from './session-store.ts';
import { createSubscriberStore, type SubscriberStore } from './subscriber-store.ts';
import type { RunTransaction } from './transactions/run-transaction.ts';
import { createUpgradeStore } from './upgrade-store.ts';
import { createUserStore, type UserStore } from './user-store.ts';

/** All stores of a database, one per noun, and the replay of events, which uses three collections. */
export interface Stores {
  readonly users: UserStore;
  readonly deletions: DeletionStore;
  readonly emailChanges: EmailChangeStore;
  readonly groups: GroupStore;
  readonly invites: InviteStore;
  readonly memberships: MembershipStore;
  readonly sessions: SessionStore;
  readonly idempotency: IdempotencyStore;
  readonly challenges: ChallengeStore;
  readonly secondFactors: SecondFactorStore;
  readonly factorRemovals: FactorRemovalStore;
  readonly passkeys: PasskeyStore;
  readonly identities: IdentityStore;
  readonly providerRevocations: ProviderRevocationStore;
  /** Counts what depends on server keys, except on these. */
  readonly kidsInUse: (except?: readonly string[]) => Promise<KidInUse[]>;
  readonly consumedProofs: ConsumedProofStore;
  readonly outbox: OutboxStore;
  readonly deadLetters: DeadLetterStore;
  readonly subscribers: SubscriberStore;
  readonly replay: Replay;
  readonly upgrades: UpgradeRecords;
}

/**
 * Creates the stores. Opens nothing. Only dead letters and replay start transactions themselves, with `transaction`.
 * `now` decides what of an account counts: see `PresentUser`.
 */
export function createStores(collections: Collections, transaction: RunTransaction, now: () => Date): Stores {
  const users = createUserStore(collections, now);
  const groups = createGroupStore(collections);
  const invites = createInviteStore(collections);
  const memberships = createMembershipStore({ users, groups, invites });
  return {
    users,
    emailChanges: createEmailChangeStore(collections, now),
    deletions: createDeletionStore(collections, memberships),
    groups,
    invites,
    memberships,
    sessions: createSessionStore(collections),
    idempotency: createIdempotencyStore(collections),
    challenges: createChallengeStore(collections),
    secondFactors: createSecondFactorStore(collections),
    factorRemovals: createFactorRemovalStore(collections, now),
    passkeys: createPasskeyStore(collections, now),
    identities: createIdentityStore(collections, now),
    providerRevocations: createProviderRevocationStore(collections),
    kidsInUse: (except?: readonly string[]) => countKidsInUse(collections, except),
    consumedProofs: createConsumedProofStore(collections),
    outbox: createOutboxStore(collections),
    deadLetters: createDeadLetterStore(collections, transaction),
    subscribers: createSubscriberStore(collections),
    replay: createReplay(collections, transaction),
    upgrades: createUpgradeStore(collections, now),
  };
}
