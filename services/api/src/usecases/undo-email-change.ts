import { randomBytes, randomUUID } from 'node:crypto';
import type { AuthEvent } from '@auth-account/contracts/events';
import type { EmailChangeUndoneResponse, UndoEmailChangeRequest } from '@auth-account/contracts/http/email-change';
import { AppError } from '@auth-account/errors';
import { createAccountEvent, eventOrigin } from '@auth-account/messaging';
import { deletionCancelledEvent } from '@auth-account/messaging/account-events';
import {
  type InviteStore,
  isDuplicateKey,
  type OutboxStore,
  type RunTransaction,
  type UserStore,
} from '@auth-account/stores';
import type { ChallengeStore } from '@auth-account/stores/challenges';
import type { DeletionStore } from '@auth-account/stores/deletions';
import type { FormerEmail, UserDocument } from '@auth-account/stores/documents';
import type { EmailChangeStore } from '@auth-account/stores/email-changes';
import type { EmailChangeTokens } from '@auth-account/tokens';
import type { ClientSession } from 'mongodb';
import type { Audit } from '../audit/audit.ts';
import { codeInvalid } from '../codes/code-errors.ts';
import type { Limits } from '../limits/limits.ts';
import type { Ids } from '../request/ids.ts';
import type { RequestOrigin } from '../request/request-origin.ts';
import type { PasswordHasher } from '../security/password-hasher.ts';
import type { EndSessions } from './end-sessions.ts';

export interface UndoEmailChangeDeps {
  readonly users: Pick<UserStore, 'hasPasswordHash'>;
  readonly emailChanges: Pick<EmailChangeStore, 'findByChange' | 'undo'>;
  readonly deletions: Pick<DeletionStore, 'cancel'>;
  readonly invites: Pick<InviteStore, 'revokeMadeBy'>;
  readonly challenges: Pick<ChallengeStore, 'endAll'>;
  readonly outbox: Pick<OutboxStore, 'append'>;
  readonly emailChangeTokens: Pick<EmailChangeTokens, 'verify' | 'rereadKeys'>;
  readonly endSessions: EndSessions;
  readonly hasher: Pick<PasswordHasher, 'admit'>;
  readonly limits: Pick<Limits, 'tryCode' | 'registered'>;
  readonly transaction: RunTransaction;
  readonly publishEvent: (event: AuthEvent) => void;
  readonly audit: Audit;
  readonly ids: Pick<Ids, 'entityId' | 'groupId'>;
  readonly now: () => Date;
}

/** An account, and the address that it gets back. */
interface FoundChange {
  readonly user: UserDocument;
  readonly former: FormerEmail;
}

/** Tries of an undo that comes upon other changes of the account. */
const mostTries = 5;

/**
 * Gives an account a former address back, with the token of the notice to it, and undoes every change after that one
 * too. Whoever changed it knew the password and may be a thief: it is void until it is reset; all sessions, open codes
 * and invites of the account end, and a deletion that was ordered is cancelled, in the same transaction. If that address
 * was never verified, whoever registered the account may not own it: its known networks are forgotten.
 *
 * Raises `ERR-CODE-INVALID` for a token that is not genuine or was used, `ERR-CODE-EXPIRED` after 72 hours,
 * `ERR-RATE-LIMITED` and `ERR-OVERLOADED`.
 */
export function createUndoEmailChange(deps: UndoEmailChangeDeps) {
  const { hasher, limits, ids, now } = deps;
  const findChange = createFindChange(deps);
  const undo = createUndo(deps);

  return async (
    { undo_token }: UndoEmailChangeRequest,
    origin: RequestOrigin,
  ): Promise<EmailChangeUndoneResponse['data']> => {
    await limits.tryCode(origin);
    const at = now();
    let found = await findChange(undo_token, at);
    // The hash of a password that nobody knows: to a login it is a hash like any other.
    const nobodys = randomBytes(32).toString('base64url');
    const password_hash = await hasher.admit(origin, (turn) => turn.hash(nobodys));
    // A thief who changes the account at the same moment must not make a genuine token look void.
    for (let tries = 1; !(await undo(found, password_hash, at, origin)); tries += 1) {
      if (tries === mostTries) throw new AppError('ERR-DEPENDENCY-UNAVAILABLE', { retryAfterSeconds: 1 });
      found = await findChange(undo_token, at);
    }
    const { email, verified_at } = found.former;
    // No account knows a device without an id.
    if (verified_at === undefined) await limits.registered({ email, deviceId: ids.groupId() }, origin);
    return { message: 'EMAIL_CHANGE_UNDONE', timestamp: now().toISOString() };
  };
}

class ChangedMeanwhile extends Error {}

/** Creates the undo itself. It returns false if the account has been changed since it was read. */
function createUndo(deps: UndoEmailChangeDeps) {
  const { users, emailChanges, deletions, invites, challenges, outbox, endSessions } = deps;
  const { transaction, publishEvent, audit, ids } = deps;

  return async ({ user, former }: FoundChange, password_hash: string, at: Date, origin: RequestOrigin) => {
    const others = othersOf(user, former, at);
    const { _id: user_id } = user;
    const events = eventsOf(deps, user_id, at, origin);
    const end = { userId: user_id, reason: 'password_changed', at } as const;
    const cancelled = deletionCancelledEvent(user_id, eventOrigin(origin, at, ids));
    const work = async (session: ClientSession) => {
      const isCancelled = await deletions.cancel(user, at, session);
      if (!(await emailChanges.undo(user, { former, others, password_hash, at }, session)))
        throw new ChangedMeanwhile();
      await challenges.endAll(user_id, at, session);
      await invites.revokeMadeBy(user_id, at, session);
      const ended = await endSessions.revoke(end, origin, session);
      const written = isCancelled ? [...events, cancelled] : events;
      for (const event of written) await outbox.append(event, at, session);
      return { ended, isCancelled, written };
    };
    const isCommitted = () => users.hasPasswordHash(user_id, password_hash);
    const undone = await transaction(work, { isCommitted, group: user_id }).catch((error: unknown) => {
      if (error instanceof ChangedMeanwhile) return;
      // Only an import could have given the address to somebody else.
      throw isDuplicateKey(error, 'email_key_unique') ? codeInvalid() : error;
    });
    if (undone === undefined) return false;
    for (const event of undone.written) publishEvent(event);
    audit({ event: 'account.email_change_undone', user_id }, origin);
    if (undone.isCancelled) audit({ event: 'account.deletion_cancelled', user_id }, origin);
    await endSessions.announce(end, undone.ended, origin);
    return true;
  };
}

/** Creates the search for the change that a token undoes. */
function createFindChange({ emailChanges, emailChangeTokens }: UndoEmailChangeDeps) {
  async function verify(token: string): Promise<string> {
    const changeId = emailChangeTokens.verify(token);
    if (changeId !== undefined) return changeId;
    await emailChangeTokens.rereadKeys();
    const found = emailChangeTokens.verify(token);
    if (found === undefined) throw codeInvalid();
    return found;
  }

  return async (token: string, at: Date): Promise<FoundChange> => {
    const changeId = await verify(token);
    const user = await emailChanges.findByChange(changeId);
    const former = user?.former_emails?.find(({ change_id }) => change_id === changeId);
    if (user === undefined || former === undefined) throw codeInvalid();
    if (former.until <= at) throw new AppError('ERR-CODE-EXPIRED');
    return { user, former };
  };
}

/**
 * Returns what the account's former addresses are after an undo: those of earlier changes, and, for the worker, which
 * forgets their places, those that the undo takes away. No token has the ids of these.
 */
function othersOf({ email, email_key, former_emails = [] }: UserDocument, former: FormerEmail, at: Date) {
  const undone = former_emails.findIndex(({ change_id }) => change_id === former.change_id);
  const lost = [...former_emails.slice(undone + 1), { email, email_key }];
  return [
    ...former_emails.slice(0, undone),
    ...lost.map(({ email, email_key }) => ({ email, email_key, change_id: randomUUID(), until: at })),
  ];
}

function eventsOf({ ids }: UndoEmailChangeDeps, user_id: string, at: Date, origin: RequestOrigin): AuthEvent[] {
  const source = () => eventOrigin(origin, at, ids);
  const changed_at = at.toISOString();
  return [
    createAccountEvent('service.auth.events.email_changed', { user_id, changed_at, is_undone: true }, source()),
    createAccountEvent('service.auth.events.password_changed', { user_id, changed_at, reason: 'undone' }, source()),
  ];
}
