import type { AuthEvent } from '@auth-account/contracts/events';
import type { ConfirmPasswordResetRequest, PasswordResetResponse } from '@auth-account/contracts/http/password-reset';
import { createAccountEvent, eventOrigin } from '@auth-account/messaging';
import { passwordChangedEvents } from '@auth-account/messaging/account-events';
import type { InviteStore, PresentUser, UserStore } from '@auth-account/stores';
import type { ChallengeStore } from '@auth-account/stores/challenges';
import { countsAnew, passwordFields } from '@auth-account/stores/credentials';
import type { Commit } from '../../announcements/commit.ts';
import { ChangedMeanwhile } from '../../announcements/retry-if-changed.ts';
import type { Limits } from '../../limits/limits.ts';
import type { Ids } from '../../request/ids.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';
import type { PasswordHasher } from '../../security/password-hasher.ts';
import { type CheckCode, changeByCode } from '../codes/check-code.ts';
import { isCodeUsed, type RightCode, useCode } from '../proofs/use-proof.ts';
import type { EndSessions } from '../sessions/end-sessions.ts';
import { lossBy } from './loss-by.ts';

export interface ResetPasswordDeps {
  readonly users: Pick<UserStore, 'recover'>;
  readonly invites: Pick<InviteStore, 'revokeMadeBy'>;
  readonly challenges: Pick<ChallengeStore, 'use' | 'wasUsed' | 'endAll'>;
  readonly checkCode: CheckCode;
  readonly endSessions: EndSessions;
  readonly hasher: Pick<PasswordHasher, 'admit'>;
  readonly limits: Pick<Limits, 'tryCode' | 'registered' | 'proved'>;
  readonly commit: Commit;
  readonly ids: Pick<Ids, 'entityId'>;
  readonly now: () => Date;
}

/**
 * Sets a new password with a code from the account's mailbox. All sessions end in the same transaction. Like every
 * login it writes the user's document, so that no login with the old password is missed. All open codes of the account
 * end, the open invites that it has made are revoked, and the account forgets all devices. Wrong passwords that others
 * tried before do not keep the owner from the next login, and what a thief has used up is given back: see `countsAnew`.
 *
 * If the email address was never verified, somebody else may have registered the account. Then the code verifies the
 * address, the account's known networks are forgotten, and its other sign-in methods are removed.
 *
 * Raises the errors of {@link CheckCode}, `ERR-RATE-LIMITED` and `ERR-OVERLOADED`. A shed request uses none of the
 * code's tries.
 */
export function createResetPassword(deps: ResetPasswordDeps) {
  const { checkCode, hasher, limits, now } = deps;
  const setPassword = createSetPassword(deps);

  return async (input: ConfirmPasswordResetRequest, origin: RequestOrigin): Promise<PasswordResetResponse['data']> => {
    await limits.tryCode(origin);
    // The hash gate comes first, so that the code of a shed request is not compared.
    const { code, password_hash } = await hasher.admit(origin, async (turn) => {
      const right = await checkCode('password_reset', input, origin);
      return { code: right, password_hash: await turn.hash(input.new_password) };
    });
    const check = () => checkCode('password_reset', input, origin);
    const set = (right: RightCode) => setPassword(right, password_hash, origin);
    const { user, invites_revoked } = await changeByCode(check, set, code);
    const { email, email_verified_at } = user;
    await (email_verified_at === undefined ? limits.registered(email, origin) : limits.proved(email, origin));
    return { message: 'PASSWORD_RESET', invites_revoked, timestamp: now().toISOString() };
  };
}

/**
 * Resets the password. Raises {@link ChangedMeanwhile} if a sign-in method was changed, or the email address proved,
 * since the code was checked.
 */
function createSetPassword(deps: ResetPasswordDeps) {
  const { users, invites, challenges, endSessions, commit, ids, now } = deps;
  return async (code: RightCode, password_hash: string, origin: RequestOrigin) => {
    const { user } = code;
    const at = now();
    const isFirstProof = user.email_verified_at === undefined;
    const loss = lossBy(user, isFirstProof ? 'all' : 'none', () => eventOrigin(origin, at, ids));
    const fields = {
      // This also forgets the known devices, because a device of somebody else may be among them.
      ...passwordFields(password_hash, user, at),
      ...countsAnew(user, at, isFirstProof ? user.created_at : undefined),
      ...(isFirstProof && { email_verified_at: at }),
    };
    const end = { userId: user._id, reason: 'password_changed', at } as const;
    const { invites_revoked } = await commit(
      {
        ...endSessions.turnOf(user._id),
        at,
        isCommitted: () => isCodeUsed(challenges, code),
        // A user whose app has given up would not know which password is valid.
        ifClientLeft: 'abort',
        async work(session) {
          await useCode(challenges, code, at, session);
          const removed = await users.recover(user, { ...loss, fields, at }, session);
          if (removed === undefined) throw new ChangedMeanwhile();
          const lost = loss.announce(removed);
          await challenges.endAll(user._id, at, session);
          const invites_revoked = await invites.revokeMadeBy(user._id, at, session);
          const ended = await endSessions.revoke(end, origin, session);
          const events = [...eventsOf(ids, user, { at, invites_revoked }, origin), ...lost.events];
          const audit = { event: 'account.password_reset', user_id: user._id, invites_revoked } as const;
          return { invites_revoked, events, audit: [audit, ...lost.audit], sessions: [ended] };
        },
      },
      origin,
    );
    return { user, invites_revoked };
  };
}

/** Returns the events of a reset. The first proof of the email address has an event of its own. */
function eventsOf(
  ids: ResetPasswordDeps['ids'],
  user: PresentUser,
  { at, invites_revoked }: { readonly at: Date; readonly invites_revoked: number },
  origin: RequestOrigin,
): AuthEvent[] {
  const { _id: user_id, email_verified_at } = user;
  const nextOrigin = () => eventOrigin(origin, at, ids);
  const change = { user_id, reason: 'reset', locale: mailLocale(user, origin), invites_revoked } as const;
  const changed = passwordChangedEvents(change, nextOrigin);
  if (email_verified_at !== undefined) return changed;
  const verified = { user_id, verified_at: at.toISOString() };
  return [...changed, createAccountEvent('service.auth.events.email_verified', verified, nextOrigin())];
}
