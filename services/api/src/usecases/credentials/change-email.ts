import { randomUUID } from 'node:crypto';
import type { ConfirmCodeRequest } from '@auth-account/contracts/http/challenges';
import { type EmailChangedResponse, emailUndoSeconds } from '@auth-account/contracts/http/email-change';
import { AppError } from '@auth-account/errors';
import { createAccountEvent, eventOrigin } from '@auth-account/messaging';
import { isDuplicateKey, type PresentUser, type SessionStore } from '@auth-account/stores';
import type { ChallengeStore } from '@auth-account/stores/challenges';
import type { EmailChange, EmailChangeStore } from '@auth-account/stores/email-changes';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { Commit } from '../../announcements/commit.ts';
import type { Limits } from '../../limits/limits.ts';
import type { Ids } from '../../request/ids.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';
import type { CheckCode } from '../codes/check-code.ts';
import { codeInvalid, isCodeUsed, useCode } from '../proofs/use-proof.ts';
import type { EndSessions } from '../sessions/end-sessions.ts';

export interface ChangeEmailDeps {
  readonly emailChanges: Pick<EmailChangeStore, 'findHolder' | 'change'>;
  readonly sessions: Pick<SessionStore, 'findDevice'>;
  readonly challenges: Pick<ChallengeStore, 'use' | 'wasUsed' | 'endAll'>;
  readonly checkCode: CheckCode;
  readonly endSessions: EndSessions;
  readonly limits: Pick<Limits, 'tryCode' | 'moved'>;
  readonly commit: Commit;
  readonly ids: Pick<Ids, 'entityId'>;
  readonly now: () => Date;
}

/**
 * Changes the caller's email address with a code from the new one, and ends all other sessions and all open codes of
 * the account in the same transaction. The old address is notified, and can undo the change for 72 hours.
 *
 * Raises the errors of {@link CheckCode}, `ERR-RATE-LIMITED`, `ERR-EMAIL-ALREADY-EXISTS` if another account has taken
 * the email address since, and `IAD_JWT_ACCESS_INVALID` if the caller's session has ended since.
 */
export function createChangeEmail(deps: ChangeEmailDeps) {
  const { emailChanges, sessions, challenges, checkCode, endSessions, limits, commit, now } = deps;

  return async (
    input: ConfirmCodeRequest,
    caller: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<EmailChangedResponse['data']> => {
    const { user_id, sid: session_id } = caller;
    await limits.tryCode(origin);
    const code = await checkCode('email_change', input, origin, { user_id });
    const { user } = code;
    const at = now();
    const change = changeOf(user, await sessions.findDevice(session_id), at);
    const events = eventsOf(deps, user, change, origin);
    const end = { userId: user_id, reason: 'revoked_by_user', at, spare: session_id } as const;
    const { ended } = await commit(
      {
        ...endSessions.turnOf(user_id),
        at,
        isCommitted: () => isCodeUsed(challenges, code),
        ifClientLeft: 'commit',
        async work(session) {
          await useCode(challenges, code, at, session);
          const holder = await emailChanges.findHolder(change.email, at, session);
          if (holder !== undefined && holder._id !== user_id) throw takenError(change.email);
          if (!(await emailChanges.change(user, change, session))) throw codeInvalid();
          await challenges.endAll(user_id, at, session);
          const ended = await endSessions.revoke(end, origin, session);
          const audit = { event: 'account.email_changed', user_id, session_id } as const;
          return { ended, events, audit: [audit], sessions: [ended] };
        },
      },
      origin,
    ).catch((error: unknown) => {
      throw isDuplicateKey(error, 'email_key') ? takenError(change.email, error) : error;
    });
    // As with a registration, failed attempts that others made on this email address before must not lock its owner
    // out.
    await limits.moved({ from: user.email, to: change.email }, caller, origin);
    const sessions_ended = ended.sessionIds.length;
    return { message: 'EMAIL_CHANGED', email: change.email, sessions_ended, timestamp: now().toISOString() };
  };
}

function changeOf(user: PresentUser, known_devices: readonly string[], at: Date): EmailChange {
  const until = new Date(at.getTime() + emailUndoSeconds * 1_000);
  const email = user.pending_email ?? user.email;
  return { email, former: { change_id: randomUUID(), until }, known_devices, at };
}

function takenError(rejected_email: string, cause?: unknown): AppError {
  return new AppError('ERR-EMAIL-ALREADY-EXISTS', { details: { rejected_email }, cause });
}

function eventsOf({ ids }: ChangeEmailDeps, user: PresentUser, { former, at }: EmailChange, origin: RequestOrigin) {
  const source = () => eventOrigin(origin, at, ids);
  const changed = { user_id: user._id, changed_at: at.toISOString(), is_undone: false };
  const locale = mailLocale(user, origin);
  const notice = { user_id: user._id, purpose: 'email_changed', locale, email_change_id: former.change_id } as const;
  return [
    createAccountEvent('service.auth.events.email_changed', changed, source()),
    createAccountEvent('service.auth.events.notice', notice, source()),
  ];
}
