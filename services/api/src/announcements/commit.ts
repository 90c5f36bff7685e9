import { randomInt } from 'node:crypto';
import type { AuthEvent } from '@auth-account/contracts/events';
import { AppError } from '@auth-account/errors';
import type { PushContent } from '@auth-account/messaging';
import {
  closeReasonOf,
  type OutboxStore,
  type RunTransaction,
  type SessionStore,
  type TransactionRequest,
  type UserStore,
} from '@auth-account/stores';
import type { RevocationReason } from '@auth-account/stores/documents';
import type { ClientSession } from 'mongodb';
import type { Audit } from '../audit/audit.ts';
import type { AuditEvent } from '../audit/events.ts';
import { assertClientConnected } from '../request/assert-client-connected.ts';
import type { RequestOrigin } from '../request/request-origin.ts';
import type { Announcement, Changed } from './announce.ts';
import type { NotifySessions } from './notify-sessions.ts';

export interface CommitDeps {
  readonly transaction: RunTransaction;
  readonly outbox: Pick<OutboxStore, 'append' | 'appendDelivered' | 'exists'>;
  readonly users: Pick<UserStore, 'touch'>;
  readonly sessions: Pick<SessionStore, 'findLive'>;
  readonly publishEvent: (event: AuthEvent) => void;
  readonly audit: Audit;
  readonly announce: (announcement: Announcement) => Promise<void>;
  readonly notifySessions: NotifySessions;
}

/** An event that may have no receiver. The work is the same then, so that a client cannot measure the difference. */
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

/**
 * Everything that must be announced after a change. The change's work fills in each part, with {@link none} if it is
 * empty.
 */
export interface Outcome {
  /** Written to the outbox in the transaction, and published after the commit. */
  readonly events: readonly (AuthEvent | QuietEvent)[];
  /** Records for the audit log. Records about the ended sessions are added to these. */
  readonly audit: readonly AuditEvent[];
  /**
   * Sessions that the change has ended, or whose claims it has changed. Their tokens are denied, and their streams
   * close.
   */
  readonly sessions: readonly (EndedSessions | Pick<Changed, 'changed'>)[];
  /** Messages to the apps of other sessions. */
  readonly messages?: readonly { readonly to: readonly string[]; readonly content: PushContent }[];
}

export const none: readonly never[] = [];

/** A change of credentials, sessions or membership, as one transaction. */
export interface Change<O extends Outcome>
  extends Pick<TransactionRequest, 'lockKey' | 'hold' | 'isUrgent' | 'begunAt'> {
  readonly at: Date;
  /** Makes the writes of the change. The work runs again after a conflict, so ids must be created before it. */
  readonly work: (session: ClientSession) => Promise<O>;
  /**
   * Finds out, if the commit got no answer, whether the change has taken effect. `by event`: the change has taken
   * effect if its first event is stored. A change without events counts as rolled back and is tried again.
   */
  readonly isCommitted: 'by event' | (() => Promise<boolean>);
  /** `abort` if the change could harm a later request of a client that has given up this request. */
  readonly ifClientLeft: 'abort' | 'commit';
  /** True if the change is made even if the session of its caller has ended. */
  readonly outlivesCaller?: boolean;
}

/** Carries out a change and announces it. Returns the result of the change's work. */
export type Commit = <O extends Outcome>(change: Change<O>, origin: RequestOrigin) => Promise<O>;

/**
 * Commits every change. It appends the change's events in the transaction. After the commit it publishes them, writes
 * the records of the audit log, and denies the sessions. Only the denial is awaited, within the limit of
 * `createAnnounce`, and no step after the commit fails.
 *
 * If a session asks for the change, the transaction checks that it is live, and writes its user's document. A logout of
 * all sessions, a recovery and the end by another session write that document too, so after their answer nothing that a
 * stolen session has asked for takes effect. Other ends of a single session may come while such a transaction commits.
 *
 * Raises the errors of the work and of the transaction, `IAD_JWT_ACCESS_INVALID` if the caller's session has ended, and
 * `RequestAbandoned` if the change is aborted because its client has left.
 */
export function createCommit({ transaction, outbox, users, sessions, ...notifiers }: CommitDeps): Commit {
  const notify = createNotify(notifiers);
  return async ({ work, at, isCommitted, ifClientLeft, outlivesCaller = false, ...turn }, origin) => {
    const caller = outlivesCaller ? undefined : origin.caller;
    let first: AuthEvent | undefined;
    const assertCallerLive = async (session: ClientSession) => {
      const isLive = caller === undefined || (await sessions.findLive(caller.sid, session)) !== undefined;
      if (!isLive) throw new AppError('IAD_JWT_ACCESS_INVALID');
    };
    const workAndAppend = async (session: ClientSession) => {
      await assertCallerLive(session);
      const outcome = await work(session);
      const events = outcome.events.map(asQuiet);
      for (const { event, isFor } of events) {
        await (isFor === 'user' ? outbox.append(event, at, session) : outbox.appendDelivered(event, at, session));
      }
      first = events[0]?.event;
      // Last, so that a recovery waits for no work. The session itself is not written: refreshes would conflict.
      if (caller !== undefined) await users.touch(caller.user_id, session);
      if (ifClientLeft === 'abort') assertClientConnected(origin);
      return outcome;
    };
    const hasFirst = async () => first !== undefined && outbox.exists(first.id);
    const request = { ...turn, isCommitted: isCommitted === 'by event' ? hasFirst : isCommitted };
    const outcome = await transaction(workAndAppend, request);
    origin.onCommitted?.();
    await notify(outcome, at, origin);
    return outcome;
  };
}

/**
 * Limit for the delay of a publication, in milliseconds. It is too short to matter to somebody who waits for a mail.
 */
const maxDelayMs = 500;

/** Runs the steps after the commit. */
function createNotify({
  publishEvent,
  audit,
  announce,
  notifySessions,
}: Omit<CommitDeps, 'transaction' | 'outbox' | 'users' | 'sessions'>) {
  function publish(each: AuthEvent | QuietEvent): void {
    if (!('isFor' in each)) publishEvent(each);
    // Publishes after a random time, so that the times of this answer and the next do not show whether an event is
    // published. If the process stops before then, the relay publishes the event.
    else if (each.isFor === 'user') setTimeout(publishEvent, randomInt(maxDelayMs), each.event).unref();
  }

  return async ({ events, audit: records, sessions, messages = none }: Outcome, at: Date, origin: RequestOrigin) => {
    const { requestId } = origin;
    for (const each of events) publish(each);
    for (const { to, content } of messages) notifySessions(to, content);
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
