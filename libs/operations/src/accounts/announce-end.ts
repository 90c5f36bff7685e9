import { createDenyList, denialLifetimeMs } from '@auth-account/messaging/deny-list';
import { closeReasonOf } from '@auth-account/stores';
import type { RevocationReason } from '@auth-account/stores/documents';
import type { RedisStore, Use } from '../context.ts';
import type { AccountChange, AccountContext } from './change-account.ts';

/** Everything that a change needs that ends the account's sessions. */
export interface EndingContext extends AccountContext {
  readonly useRedis: Use<RedisStore>;
  /** Returns the longest life, in seconds, of an access token that the services accept. */
  readonly maxTokenSeconds: () => number;
}

/** A committed change that has ended the account's sessions. */
interface EndingChange<F> {
  /** Name of the change in the audit log. */
  readonly event: string;
  /** Further fields in the audit log. */
  readonly audited?: Readonly<Record<string, number>>;
  readonly sessionIds: readonly string[];
  readonly reason: RevocationReason;
  /** Fields of the result. */
  readonly facts: F;
}

/**
 * Writes the change and the ended sessions to the audit log, closes the streams, and returns the result. Its `problem` is
 * the reason for which the worker closes the streams later.
 */
export async function announceEnd<F extends object>(
  context: Pick<EndingContext, 'useRedis' | 'maxTokenSeconds'>,
  change: AccountChange,
  { event, audited, sessionIds, reason, facts }: EndingChange<F>,
) {
  const { user, requestId, audit } = change;
  audit({ event, operator_reason: change.reason, ...audited });
  for (const session_id of sessionIds) audit({ event: 'session.revoked', session_id, reason });
  const problem = await closeStreams(context, change, sessionIds, reason);
  return { user_id: user._id, ...facts, sessions: sessionIds.length, request_id: requestId, problem };
}

/**
 * Writes the ended sessions to the deny list, which closes the streams. Returns the reason if the worker must do this
 * instead, otherwise null.
 */
async function closeStreams(
  { useRedis, maxTokenSeconds }: Pick<EndingContext, 'useRedis' | 'maxTokenSeconds'>,
  { at, requestId }: AccountChange,
  sessionIds: readonly string[],
  reason: RevocationReason,
): Promise<string | null> {
  const denial = { kind: 'revoked', reason: closeReasonOf(reason) } as const;
  const entries = sessionIds.map((sessionId) => ({ sessionId, denial, requestId, decidedAt: at.getTime() }));
  try {
    const lifetimeMs = denialLifetimeMs(maxTokenSeconds());
    await useRedis(({ redis, keys }) => createDenyList(redis, keys, lifetimeMs).denyAndClose(entries));
    return null;
  } catch (error) {
    // The change is committed, whether Redis answers or not.
    return (error as Error).message;
  }
}
