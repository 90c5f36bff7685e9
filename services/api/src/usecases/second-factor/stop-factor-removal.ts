import type { RemovalStoppedResponse, StopRemovalRequest } from '@auth-account/contracts/http/second-factor-removal';
import { AppError } from '@auth-account/errors';
import { createAccountEvent, eventOrigin, factorRemovalMessage } from '@auth-account/messaging';
import type { PresentUser, SessionStore, UserStore } from '@auth-account/stores';
import type { FactorRemovalStore } from '@auth-account/stores/factor-removals';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import { type Commit, none } from '../../announcements/commit.ts';
import { ChangedMeanwhile, retryIfChanged } from '../../announcements/retry-if-changed.ts';
import type { Limits } from '../../limits/limits.ts';
import type { Ids } from '../../request/ids.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';
import { createVerifyUndoToken, type VerifiableTokens } from '../codes/verify-undo-token.ts';
import { codeInvalid } from '../proofs/use-proof.ts';

interface StopDeps {
  readonly factorRemovals: Pick<FactorRemovalStore, 'findHolder' | 'stop'>;
  readonly sessions: Pick<SessionStore, 'listLive'>;
  readonly commit: Commit;
  readonly ids: Pick<Ids, 'entityId'>;
  readonly now: () => Date;
}

export interface StopFactorRemovalDeps extends StopDeps {
  readonly users: Pick<UserStore, 'find'>;
}

export interface StopFactorRemovalByTokenDeps extends StopDeps {
  readonly removalStopTokens: VerifiableTokens;
  readonly limits: Pick<Limits, 'tryCode'>;
}

type Stopped = RemovalStoppedResponse['data'];

/**
 * Stops the ordered removal of the caller's second factor. Any live session may do so. Without an order nothing changes.
 * Raises `IAD_JWT_ACCESS_INVALID` if the account is gone or the session has ended, `ERR-CODE-EXPIRED` from the time of the
 * removal on, and `ERR-DEPENDENCY-UNAVAILABLE` if new orders keep coming.
 */
export function createStopFactorRemoval(deps: StopFactorRemovalDeps) {
  const { users, now } = deps;
  const stop = createStop(deps);

  /** Returns the account if an order waits. */
  async function findWaiting(userId: string): Promise<PresentUser | undefined> {
    const user = await users.find(userId);
    if (user === undefined) throw new AppError('IAD_JWT_ACCESS_INVALID');
    if (user.due_totp !== undefined) throw new AppError('ERR-CODE-EXPIRED');
    return user.totp?.removal && user;
  }

  return async ({ user_id, sid }: VerifiedAccessToken, origin: RequestOrigin): Promise<Stopped> => {
    // That nothing waits is certain only after a second read.
    const stopOf = async (user: PresentUser | undefined) => {
      if (user === undefined) return;
      const removalId = user.totp?.removal?.id;
      const isStopped = removalId !== undefined && (await stop({ user, removalId, sessionId: sid }, origin));
      if (!isStopped) throw new ChangedMeanwhile();
    };
    await retryIfChanged(() => findWaiting(user_id), stopOf, await users.find(user_id));
    return { message: 'REMOVAL_STOPPED', timestamp: now().toISOString() };
  };
}

/**
 * Stops an ordered removal of a second factor with the token of its mail. Raises `ERR-CODE-INVALID` for a token that is
 * not genuine or whose order has ended, `ERR-CODE-EXPIRED` from the time of the removal on, and `ERR-RATE-LIMITED`.
 */
export function createStopFactorRemovalByToken(deps: StopFactorRemovalByTokenDeps) {
  const { factorRemovals, removalStopTokens, limits, now } = deps;
  const stop = createStop(deps);
  const isOpen = async (id: string) => (await factorRemovals.findHolder(id))?.totp !== undefined;
  const verify = createVerifyUndoToken(removalStopTokens, isOpen);

  return async ({ stop_token }: StopRemovalRequest, origin: RequestOrigin): Promise<Stopped> => {
    await limits.tryCode(origin);
    const removalId = await verify(stop_token);
    const user = await factorRemovals.findHolder(removalId);
    if (user === undefined) throw codeInvalid();
    if (user.totp === undefined) throw new AppError('ERR-CODE-EXPIRED');
    if (!(await stop({ user, removalId }, origin))) throw codeInvalid();
    return { message: 'REMOVAL_STOPPED', timestamp: now().toISOString() };
  };
}

interface Stop {
  readonly user: PresentUser;
  readonly removalId: string;
  /** The caller's session, if there is one. */
  readonly sessionId?: string;
}

/** Stops the removal. Returns false if the order had ended or was due. */
function createStop({ factorRemovals, sessions, commit, ids, now }: StopDeps) {
  return async ({ user, removalId, sessionId: session_id }: Stop, origin: RequestOrigin): Promise<boolean> => {
    const { _id: user_id } = user;
    const at = now();
    const notified = { user_id, purpose: 'second_factor_removal_stopped', locale: mailLocale(user, origin) } as const;
    const notice = createAccountEvent('service.auth.events.notice', notified, eventOrigin(origin, at, ids));
    const { isStopped } = await commit(
      {
        at,
        lockKey: user_id,
        isCommitted: 'by event',
        ifClientLeft: 'commit',
        async work(session) {
          const live = (await sessions.listLive(user_id, session)).map(({ _id }) => _id);
          // The token of a session that has ended may still be in the hands of the thief who was logged out.
          if (session_id !== undefined && !live.includes(session_id)) throw new AppError('IAD_JWT_ACCESS_INVALID');
          const isStopped = await factorRemovals.stop(user_id, removalId, at, session);
          if (!isStopped) return { isStopped, events: none, audit: none, sessions: none };
          const messages = [{ to: live, content: factorRemovalMessage(null, at) }];
          const audit = [{ event: 'account.second_factor_removal_stopped', user_id, session_id } as const];
          return { isStopped, events: [notice], audit, sessions: none, messages };
        },
      },
      origin,
    );
    return isStopped;
  };
}
