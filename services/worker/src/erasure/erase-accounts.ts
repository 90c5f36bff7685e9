import { createAccountEvent } from '@auth-account/messaging';
import type { DenyEntry, DenyList } from '@auth-account/messaging/deny-list';
import type { AccountCountStore } from '@auth-account/redis';
import { type OutboxStore, type RunTransaction, recordedEnd } from '@auth-account/stores';
import type { DeletionStore, DueAccount, EndedSession, ErasedAccount } from '@auth-account/stores/deletions';
import type { UserDocument } from '@auth-account/stores/documents';

export interface EraseAccountsDeps {
  readonly deletions: Pick<DeletionStore, 'claim' | 'listEndedSince' | 'removeEndedSessions' | 'erase'>;
  readonly outbox: Pick<OutboxStore, 'append' | 'exists'>;
  readonly transaction: RunTransaction;
  readonly denyList: Pick<DenyList, 'denyAndClose'>;
  readonly forgetKnown: AccountCountStore['forget'];
  /** Time, in ms, for which the end of a session matters. */
  readonly lifetimeMs: number;
  /** Time between an account's deletion and its erasure, in ms. In this time, requests that were under way end. */
  readonly delayMs: number;
  /** Called after the commit. */
  readonly onErased: (erased: ErasedAccount, requestId: string) => void;
  readonly onFailed: (userId: string) => void;
  /** Called if the second clean-up of Redis, after the commit, failed. */
  readonly onNotForgotten: (userId: string, error: unknown) => void;
  /** UUIDv7. */
  readonly newEventId: () => string;
  readonly newLease: () => string;
  readonly now: () => Date;
}

/** Milliseconds after which another worker takes over an account whose erasure was not finished. */
const leaseMs = 60_000;

/** Limit for the ended sessions that the transaction itself removes. Sessions above the limit are removed before it. */
const sessionsOfTransaction = 5_000;

/** Limit for the sessions that are denied at once. */
const pageSize = 500;

/**
 * Runs one round, which erases each account whose grace period is over, in one transaction that also writes the event
 * for subscribers. If a worker is killed, the account is either complete or gone.
 *
 * Before the erasure, the account's sessions are denied in Redis once more, because Redis may have lost an entry that
 * no round of the reconciliation has restored yet. So no account is erased while Redis is away. The round ends with the
 * first error. The account that failed can be taken again only after a minute, so that the next round goes on with
 * other accounts.
 */
export function createEraseAccounts(deps: EraseAccountsDeps): () => Promise<void> {
  const { deletions, forgetKnown, delayMs, onErased, onFailed, onNotForgotten, newLease, now } = deps;

  async function erase(due: DueAccount): Promise<void> {
    await announceEnds(deps, due.user._id);
    await deletions.removeEndedSessions(due.user._id, sessionsOfTransaction);
    await forgetKnown(addressesOf(due.user));
    // The request that ordered the deletion is long over, so the erasure has an id of its own.
    const requestId = newLease();
    const erased = await eraseInTransaction(deps, due, requestId);
    if (erased === undefined) return;
    onErased(erased, requestId);
    // A login that was under way may have made a device or network known again.
    const { _id: userId } = erased.user;
    await forgetKnown(addressesOf(erased.user)).catch((error: unknown) => onNotForgotten(userId, error));
  }

  return async () => {
    for (;;) {
      const at = now();
      const [dueBy, until] = [new Date(at.getTime() - delayMs), new Date(at.getTime() + leaseMs)];
      const claim = { lease: newLease(), now: at, dueBy, until };
      const due = await deletions.claim(claim);
      if (due === undefined) return;
      await erase(due).catch((error: unknown) => {
        onFailed(due.user._id);
        throw error;
      });
    }
  };
}

function eraseInTransaction(
  { deletions, outbox, transaction, lifetimeMs, newEventId, now }: EraseAccountsDeps,
  due: DueAccount,
  requestId: string,
): Promise<ErasedAccount | undefined> {
  const at = now();
  const id = newEventId();
  return transaction(
    async (session) => {
      const erased = await deletions.erase(due, { now: at, lifetimeMs }, session);
      if (erased === undefined) return;
      const { _id: user_id, home_group_id } = erased.user;
      const data = { user_id, home_group_id, deleted_at: at.toISOString() };
      const event = createAccountEvent('service.auth.events.deleted', data, { id, requestId, at });
      await outbox.append(event, at, session);
      return erased;
    },
    { isCommitted: () => outbox.exists(id) },
  );
}

async function announceEnds({ deletions, denyList, lifetimeMs, now }: EraseAccountsDeps, userId: string) {
  const at = now();
  const ended = await deletions.listEndedSince(userId, new Date(at.getTime() - lifetimeMs));
  const entries = ended.map((session) => toEntry(session, at));
  for (let i = 0; i < entries.length; i += pageSize) await denyList.denyAndClose(entries.slice(i, i + pageSize));
}

function toEntry(session: EndedSession, now: Date): DenyEntry {
  // A session that is not revoked ends with its account.
  const { reason, requestId, at } = recordedEnd({ revoked_at: now, ...session });
  return { sessionId: session._id, denial: { kind: 'revoked', reason }, requestId, decidedAt: at.getTime() };
}

/**
 * Returns the keys of the account's email address and of former ones whose devices and networks are not forgotten yet.
 */
function addressesOf({ email_key, former_emails = [] }: UserDocument): string[] {
  return [...new Set([email_key, ...former_emails.map((former) => former.email_key)])];
}
