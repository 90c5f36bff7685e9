import { randomInt } from 'node:crypto';
import type { AuthEvent } from '@auth-account/contracts/events';
import type { PushContent } from '@auth-account/messaging';
import { closeReasonOf, type OutboxStore, type RunTransaction, type TransactionRequest } from '@auth-account/stores';
import type { RevocationReason } from '@auth-account/stores/documents';
import type { ClientSession } from 'mongodb';
import type { Audit } from '../audit/audit.ts';
import type { AuditEvent } from '../audit/events.ts';
import { assertClientConnected } from '../request/assert-client-connected.ts';
import type { RequestOrigin } from '../request/request-origin.ts';
import type { Announcement, Changed } from './announce.ts';
import type { TellSessions } from './tell-sessions.ts';

export interface CommitDeps {
  readonly transaction: RunTransaction;
  readonly outbox: Pick<OutboxStore, 'append' | 'appendDelivered' | 'exists'>;
  readonly publishEvent: (event: AuthEvent) => void;
  readonly audit: Audit;
  readonly announce: (announcement: Announcement) => Promise<void>;
  readonly tellSessions: TellSessions;
}

/** An event that may be for nobody. The work is the same then, and no time that a client can measure tells it. */
export interface QuietEvent {
  readonly event: AuthEvent;
  readonly isFor: 'user' | 'nobody';
}

/** Sessions that a change has ended. */
export interface EndedSessions {
  readonly userId: string;
  readonly reason: RevocationReason;
  readonly sessionIds: readonly string[];
}

/** What a change has done, for those who must know of it. Its work names each part; {@link none} is an answer. */
export interface Outcome {
  /** Written to the outbox in the transaction, and published after the commit. */
  readonly events: readonly (AuthEvent | QuietEvent)[];
  /** Records for the audit log. Those of ended sessions are added. */
  readonly audit: readonly AuditEvent[];
  /** Sessions that it has ended, or whose claims it has changed: their tokens are denied, and their streams close. */
  readonly sessions: readonly (EndedSessions | Pick<Changed, 'changed'>)[];
  /** Messages to the apps of other sessions. */
  readonly messages?: readonly { readonly to: readonly string[]; readonly content: PushContent }[];
}

export const none: readonly never[] = [];

/** A change of credentials, sessions or membership, as one transaction. */
export interface Change<O extends Outcome> extends Pick<TransactionRequest, 'lockKey' | 'hold' | 'isUrgent'> {
  readonly at: Date;
  /** Makes the writes. It runs again after a conflict, so its ids must be created before. */
  readonly work: (session: ClientSession) => Promise<O>;
  /**
   * Asks the store if the change has taken effect, after a commit without an answer. `by event`: it has if the first
   * event is there; without one it counts as rolled back, and is tried again.
   */
  readonly isCommitted: 'by event' | (() => Promise<boolean>);
  /** `abort`: a client that has left may have gone on with another request, which the change would harm. */
  readonly ifClientLeft: 'abort' | 'commit';
}

/** Carries out a change, and tells everybody of it. Returns what its work has returned. */
export type Commit = <O extends Outcome>(change: Change<O>, origin: RequestOrigin) => Promise<O>;

/**
 * Creates the one step in which a change is committed: its events are appended in the transaction; after the commit they
 * are published, the audit log gets its records, and the sessions are denied. Only the last is awaited, for as long as
 * `createAnnounce` says, and nothing after the commit fails.
 *
 * Raises what the work and the transaction raise, and `RequestAbandoned` if a client that has left aborts the change.
 */
export function createCommit({ transaction, outbox, ...tellers }: CommitDeps): Commit {
  const tell = createTell(tellers);
  return async ({ work, at, isCommitted, ifClientLeft, ...turn }, origin) => {
    let first: AuthEvent | undefined;
    const workAndAppend = async (session: ClientSession) => {
      const outcome = await work(session);
      const events = outcome.events.map(asQuiet);
      for (const { event, isFor } of events) {
        await (isFor === 'user' ? outbox.append(event, at, session) : outbox.appendDelivered(event, at, session));
      }
      first = events[0]?.event;
      // The last step before the commit.
      if (ifClientLeft === 'abort') assertClientConnected(origin);
      return outcome;
    };
    const hasFirst = async () => first !== undefined && outbox.exists(first.id);
    const request = { ...turn, isCommitted: isCommitted === 'by event' ? hasFirst : isCommitted };
    const outcome = await transaction(workAndAppend, request);
    await tell(outcome, at, origin);
    return outcome;
  };
}

/** Milliseconds, nothing to somebody who waits for a mail. */
const longestDelayMs = 500;

/** Creates the steps after the commit. */
function createTell({ publishEvent, audit, announce, tellSessions }: Omit<CommitDeps, 'transaction' | 'outbox'>) {
  function publish(each: AuthEvent | QuietEvent): void {
    if (!('isFor' in each)) publishEvent(each);
    // Some time after the answer: neither its time nor that of the next one must tell whether there is something to
    // publish. What a stop loses is left to the relay.
    else if (each.isFor === 'user') setTimeout(publishEvent, randomInt(longestDelayMs), each.event).unref();
  }

  return async ({ events, audit: records, sessions, messages = none }: Outcome, at: Date, origin: RequestOrigin) => {
    const { requestId } = origin;
    for (const each of events) publish(each);
    for (const { to, content } of messages) tellSessions(to, content);
    for (const record of [...records, ...sessions.flatMap(endsOf)]) audit(record, origin);
    await Promise.all(
      sessions.map((each) =>
        'changed' in each
          ? announce({ ...each, reason: 'GROUP_CHANGED', requestId, at })
          : announce({ sessionIds: each.sessionIds, reason: closeReasonOf(each.reason), requestId, at }),
      ),
    );
  };
}

function asQuiet(each: AuthEvent | QuietEvent): QuietEvent {
  return 'isFor' in each ? each : { event: each, isFor: 'user' };
}

function endsOf(sessions: Outcome['sessions'][number]): AuditEvent[] {
  if ('changed' in sessions) return [];
  const { userId: user_id, reason, sessionIds } = sessions;
  return sessionIds.map((session_id) => ({ event: 'session.revoked', user_id, session_id, reason }));
}
