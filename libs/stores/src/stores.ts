import type { UpgradeRecords } from '@auth-account/lifecycle/upgrade';
import { createEmailChangeStore, type EmailChangeStore } from './account/email-change-store.ts';
import { createFactorRemovalStore, type FactorRemovalStore } from './account/factor-removal-store.ts';
import { createIdentityStore, type IdentityStore } from './account/identity-store.ts';
import { createPasskeyStore, type PasskeyStore } from './account/passkey-store.ts';
import { createProviderRevocationStore, type ProviderRevocationStore } from './account/provider-revocation-store.ts';
import { createSecondFactorStore, type SecondFactorStore } from './account/second-factor-store.ts';
import { createUserStore, type UserStore } from './account/user-store.ts';
import { type ChallengeStore, createChallengeStore } from './challenge/challenge-store.ts';
import { type ConsumedProofStore, createConsumedProofStore } from './challenge/consumed-proof-store.ts';
import { createDeletionStore, type DeletionStore } from './erasure/deletion-store.ts';
import { createGroupStore, type GroupStore } from './group/group-store.ts';
import { createInviteStore, type InviteStore } from './group/invite-store.ts';
import { createMembershipStore, type MembershipStore } from './group/membership-store.ts';
import type { Collections } from './mongo/collections.ts';
import { countKidsInUse, type KidInUse } from './mongo/kids-in-use.ts';
import { createUpgradeStore } from './mongo/upgrade-store.ts';
import { createDeadLetterStore, type DeadLetterStore } from './outbox/dead-letter-store.ts';
import { createOutboxStore, type OutboxStore } from './outbox/outbox-store.ts';
import { createReplay, type Replay } from './outbox/replay.ts';
import { createSubscriberStore, type SubscriberStore } from './outbox/subscriber-store.ts';
import { createSessionStore, type SessionStore } from './session/session-store.ts';
import { createIdempotencyStore, type IdempotencyStore } from './transactions/idempotency-store.ts';
import type { RunTransaction } from './transactions/run-transaction.ts';

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
