import type { ConfirmCodeRequest } from '@auth-account/contracts/http/challenges';
import type { RemovalOrderedResponse } from '@auth-account/contracts/http/second-factor-removal';
import { eventOrigin, factorRemovalMessage } from '@auth-account/messaging';
import { removalOrderedNotification } from '@auth-account/messaging/account-events';
import type { SessionStore } from '@auth-account/stores';
import type { ChallengeStore } from '@auth-account/stores/challenges';
import { type FactorRemovalStore, newRemoval } from '@auth-account/stores/factor-removals';
import { type Commit, none } from '../../announcements/commit.ts';
import type { Limits } from '../../limits/limits.ts';
import type { Ids } from '../../request/ids.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';
import type { CheckCode } from '../codes/check-code.ts';
import { codeInvalid, isCodeUsed, useCode } from '../proofs/use-proof.ts';

export interface OrderFactorRemovalDeps {
  readonly factorRemovals: Pick<FactorRemovalStore, 'order'>;
  readonly sessions: Pick<SessionStore, 'listLive'>;
  readonly challenges: Pick<ChallengeStore, 'use' | 'wasUsed'>;
  readonly checkCode: CheckCode;
  readonly limits: Pick<Limits, 'tryCode'>;
  readonly commit: Commit;
  readonly ids: Pick<Ids, 'entityId'>;
  readonly now: () => Date;
}

/**
 * Orders the removal of the account's second factor in 72 hours, with a code from its mailbox
 * (docs/specification/sign-in.md, "Lost second factor"). A mail says so, with a token that stops it, and the apps of the
 * live sessions get a message. If the removal is ordered already, its time stays, and only the mail is sent again.
 *
 * Raises the errors of {@link CheckCode}, `ERR-CODE-INVALID` if the second factor was switched off since the code was
 * asked for, and `ERR-RATE-LIMITED`.
 */
export function createOrderFactorRemoval(deps: OrderFactorRemovalDeps) {
  const { factorRemovals, sessions, challenges, checkCode, limits, commit, ids, now } = deps;

  return async (input: ConfirmCodeRequest, origin: RequestOrigin): Promise<RemovalOrderedResponse['data']> => {
    await limits.tryCode(origin);
    const code = await checkCode('second_factor_removal', input, origin);
    const { _id: user_id } = code.user;
    const at = now();
    const wanted = newRemoval(at, 'mail');
    const source = eventOrigin(origin, at, ids);
    const { removal } = await commit(
      {
        at,
        lockKey: user_id,
        // A thief's requests must not delay it.
        isUrgent: true,
        isCommitted: () => isCodeUsed(challenges, code),
        ifClientLeft: 'commit',
        async work(session) {
          await useCode(challenges, code, at, session);
          const removal = await factorRemovals.order(user_id, wanted, session);
          if (removal === undefined) throw codeInvalid();
          const live = removal.id === wanted.id ? await sessions.listLive(user_id, session) : none;
          const notice = removalOrderedNotification(
            { user_id, removal, locale: mailLocale(code.user, origin) },
            source,
          );
          const ordered = { event: 'account.second_factor_removal_ordered', user_id } as const;
          const messages = [{ to: live.map(({ _id }) => _id), content: factorRemovalMessage(removal.due_at, at) }];
          return { removal, events: [notice], audit: [ordered], sessions: none, messages };
        },
      },
      origin,
    );
    return { message: 'REMOVAL_ORDERED', due_at: removal.due_at.toISOString(), timestamp: now().toISOString() };
  };
}
