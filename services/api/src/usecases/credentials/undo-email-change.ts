import { randomBytes, randomUUID } from 'node:crypto';
import type { AuthEvent } from '@auth-account/contracts/events';
import {
  type EmailChangeUndoneResponse,
  emailUndoSeconds,
  type UndoEmailChangeRequest,
} from '@auth-account/contracts/http/email-change';
import { AppError } from '@auth-account/errors';
import { createAccountEvent, eventOrigin } from '@auth-account/messaging';
import { deletionCancelledEvents, passwordChangedEvents } from '@auth-account/messaging/account-events';
import { type InviteStore, isDuplicateKey, type PresentUser, type UserStore } from '@auth-account/stores';
import type { ChallengeStore } from '@auth-account/stores/challenges';
import { countsAnew } from '@auth-account/stores/credentials';
import type { DeletionStore } from '@auth-account/stores/deletions';
import type { FormerEmail } from '@auth-account/stores/documents';
import type { EmailChangeStore } from '@auth-account/stores/email-changes';
import type { Commit } from '../../announcements/commit.ts';
import { ChangedMeanwhile, retryIfChanged } from '../../announcements/retry-if-changed.ts';
import type { Limits } from '../../limits/limits.ts';
import type { Ids } from '../../request/ids.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';
import type { PasswordHasher } from '../../security/password-hasher.ts';
import { createVerifyUndoToken, type VerifiableTokens } from '../codes/verify-undo-token.ts';
import { codeInvalid } from '../proofs/use-proof.ts';
import type { EndSessions } from '../sessions/end-sessions.ts';
import { lossBy } from './loss-by.ts';

export interface UndoEmailChangeDeps {
  readonly users: Pick<UserStore, 'hasPasswordHash'>;
  readonly emailChanges: Pick<EmailChangeStore, 'findByChange' | 'undo'>;
  readonly deletions: Pick<DeletionStore, 'cancel'>;
  readonly invites: Pick<InviteStore, 'revokeMadeBy'>;
  readonly challenges: Pick<ChallengeStore, 'endAll'>;
  readonly emailChangeTokens: VerifiableTokens;
  readonly endSessions: EndSessions;
  readonly hasher: Pick<PasswordHasher, 'admit'>;
  readonly limits: Pick<Limits, 'tryCode' | 'registered'>;
  readonly commit: Commit;
  readonly ids: Pick<Ids, 'entityId'>;
  readonly now: () => Date;
}

/** An account, and the email address that it gets back. */
interface FoundChange {
  readonly user: PresentUser;
  readonly former: FormerEmail;
}

/**
 * Gives a former email address back to an account, with the token of the mail to that address, and also undoes all
 * later changes of the address. The person who changed the address knew the password and may be a thief. So the same
 * transaction makes the password unusable until a reset, ends all sessions, open codes and invites of the account, and
 * cancels an ordered deletion. If the former address was never verified, somebody else may have registered the account,
 * so its known networks are forgotten, and its other sign-in methods are removed. If it was verified, those that were
 * added after the change are removed, and so is an order from a mailbox to remove the second factor, because the
 * notifications of them went to the new address.
 *
 * Raises `ERR-CODE-INVALID` for a token that is not genuine or was used, `ERR-CODE-EXPIRED` after 72 hours,
 * `ERR-RATE-LIMITED` and `ERR-OVERLOADED`.
 */
export function createUndoEmailChange(deps: UndoEmailChangeDeps) {
  const { hasher, limits, now } = deps;
  const findChange = createFindChange(deps);
  const undo = createUndo(deps);

  return async (
    { undo_token }: UndoEmailChangeRequest,
    origin: RequestOrigin,
  ): Promise<EmailChangeUndoneResponse['data']> => {
    await limits.tryCode(origin);
    const at = now();
    const found = await findChange(undo_token, at);
    // The hash of a password that nobody knows. For a login it is a hash like any other.
    const nobodys = randomBytes(32).toString('base64url');
    const password_hash = await hasher.admit(origin, (turn) => turn.hash(nobodys));
    // A thief who changes the account at the same moment must not make a genuine token look revoked.
    const { former, invites_revoked } = await retryIfChanged(
      () => findChange(undo_token, at),
      async (change) => ({ ...change, invites_revoked: await undo(change, password_hash, at, origin) }),
      found,
    );
    const { email, verified_at } = former;
    if (verified_at === undefined) await limits.registered(email, origin);
    return { message: 'EMAIL_CHANGE_UNDONE', invites_revoked, timestamp: now().toISOString() };
  };
}

/** Milliseconds by which the clocks of two apis may differ. */
const clockMarginMs = 60_000;

/**
 * Undoes the change. Returns the number of revoked invites. Raises {@link ChangedMeanwhile} if the account has been
 * changed since the read.
 */
function createUndo(deps: UndoEmailChangeDeps) {
  const { users, emailChanges, deletions, invites, challenges, endSessions, commit, ids } = deps;

  return async ({ user, former }: FoundChange, password_hash: string, at: Date, origin: RequestOrigin) => {
    const others = othersOf(user, former, at);
    const { _id: user_id } = user;
    const end = { userId: user_id, reason: 'password_changed', at } as const;
    const locale = mailLocale(user, origin);
    const changedAt = new Date(former.until.getTime() - emailUndoSeconds * 1_000);
    const since = former.verified_at === undefined ? 'all' : new Date(changedAt.getTime() - clockMarginMs);
    // Without the margin, within which the undo of an earlier change may be.
    const recovered = countsAnew(user, at, former.verified_at === undefined ? user.created_at : changedAt);
    const loss = lossBy(user, since, () => eventOrigin(origin, at, ids));
    const notified = { user_id, purpose: 'second_factor_removal_stopped', locale } as const;
    const notice = createAccountEvent('service.auth.events.notice', notified, eventOrigin(origin, at, ids));
    const stopped = loss.endsOrder ? [notice] : [];
    const cancelled = deletionCancelledEvents({ user_id, locale }, () => eventOrigin(origin, at, ids));
    const { invites_revoked } = await commit(
      {
        ...endSessions.turnOf(user_id),
        at,
        isCommitted: () => users.hasPasswordHash(user_id, password_hash),
        ifClientLeft: 'commit',
        async work(session) {
          const isCancelled = await deletions.cancel(user, at, session);
          const undo = {
            former,
            others,
            password_hash,
            signInMethods: loss.signInMethods,
            gone: loss.gone,
            recovered,
            at,
          };
          const removed = await emailChanges.undo(user, undo, session);
          if (removed === undefined) throw new ChangedMeanwhile();
          const lost = loss.announce(removed);
          await challenges.endAll(user_id, at, session);
          const invites_revoked = await invites.revokeMadeBy(user_id, at, session);
          const ended = await endSessions.revoke(end, origin, session);
          const events = [...eventsOf(deps, user, { at, invites_revoked }, origin), ...lost.events, ...stopped];
          const cancels = isCancelled ? [{ event: 'account.deletion_cancelled', user_id } as const] : [];
          const audit = { event: 'account.email_change_undone', user_id, invites_revoked } as const;
          return {
            invites_revoked,
            events: isCancelled ? [...events, ...cancelled] : events,
            audit: [audit, ...lost.audit, ...cancels],
            sessions: [ended],
          };
        },
      },
      origin,
    ).catch((error: unknown) => {
      // A duplicate is possible only if an import has given the email address to another account.
      throw isDuplicateKey(error, 'email_key') ? codeInvalid() : error;
    });
    return invites_revoked;
  };
}

/** Finds the change that a token undoes. */
function createFindChange({ emailChanges, emailChangeTokens }: UndoEmailChangeDeps) {
  const find = async (changeId: string) => {
    const user = await emailChanges.findByChange(changeId);
    const former = user?.former_emails?.find(({ change_id }) => change_id === changeId);
    return user && former && { user, former };
  };

  return async (token: string, at: Date): Promise<FoundChange> => {
    const isOpen = async (changeId: string) => ((await find(changeId))?.former.until ?? at) > at;
    const found = await find(await createVerifyUndoToken(emailChangeTokens, isOpen)(token));
    if (found === undefined) throw codeInvalid();
    if (found.former.until <= at) throw new AppError('ERR-CODE-EXPIRED');
    return found;
  };
}

/**
 * Returns the account's former email addresses after an undo. They are the addresses from earlier changes, and the
 * addresses that the undo takes away. The latter get new ids, which no token has. They are kept so that the worker can
 * make the limits forget them.
 */
function othersOf({ email, email_key, former_emails = [] }: PresentUser, former: FormerEmail, at: Date) {
  const undone = former_emails.findIndex(({ change_id }) => change_id === former.change_id);
  const lost = [...former_emails.slice(undone + 1), { email, email_key }];
  return [
    ...former_emails.slice(0, undone),
    ...lost.map(({ email, email_key }) => ({ email, email_key, change_id: randomUUID(), until: at })),
  ];
}

function eventsOf(
  { ids }: UndoEmailChangeDeps,
  user: PresentUser,
  { at, invites_revoked }: { readonly at: Date; readonly invites_revoked: number },
  origin: RequestOrigin,
): AuthEvent[] {
  const { _id: user_id } = user;
  const source = () => eventOrigin(origin, at, ids);
  const changed = { user_id, changed_at: at.toISOString(), is_undone: true };
  const revoked = { user_id, reason: 'undone', locale: mailLocale(user, origin), invites_revoked } as const;
  return [
    createAccountEvent('service.auth.events.email_changed', changed, source()),
    ...passwordChangedEvents(revoked, source),
  ];
}
