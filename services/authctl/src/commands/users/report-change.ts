import { maxTokenSeconds, tokenLifeConfig } from '@auth-account/config';
import * as Type from '@auth-account/contracts/type';
import { createDenyList, denialLifetimeMs } from '@auth-account/messaging/deny-list';
import { closeReasonOf } from '@auth-account/stores';
import type { RevocationReason } from '@auth-account/stores/documents';
import type { Outcome, Shell } from '../../cli/shell.ts';
import { withRedis } from '../../compose.ts';
import type { AccountChange } from './change-account.ts';

/** A committed change that has ended the account's sessions. */
export interface EndingChange {
  /** Name of the change in the audit log. */
  readonly event: string;
  /** Further fields in the audit log. */
  readonly audited?: Readonly<Record<string, number>>;
  readonly sessionIds: readonly string[];
  readonly reason: RevocationReason;
  /** Fields for `--json`. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** One sentence for people. */
  readonly done: string;
}

/** Writes the change and the ended sessions to the audit log, closes the streams, and returns the report. */
export async function reportChange(
  shell: Shell,
  change: AccountChange,
  { event, audited, sessionIds, reason, facts, done }: EndingChange,
): Promise<Outcome> {
  const { user, requestId, audit } = change;
  audit({ event, operator_reason: change.reason, ...audited });
  for (const session_id of sessionIds) audit({ event: 'session.revoked', session_id, reason });
  const problem = await closeStreams(shell, change, sessionIds, reason);
  const json = { user_id: user._id, ...facts, sessions: sessionIds.length, request_id: requestId, problem };
  const text = `${done} Sessions ended: ${sessionIds.length}. Request id: ${requestId}`;
  const late = `The streams are not closed yet (${problem}): the worker closes them.`;
  return { json, text: problem === null ? text : `${text}\n${late}` };
}

/**
 * Writes the ended sessions to the deny list, which closes the streams. Returns the reason if the worker must do this
 * instead, otherwise null.
 */
async function closeStreams(
  shell: Shell,
  { at, requestId }: AccountChange,
  sessionIds: readonly string[],
  reason: RevocationReason,
): Promise<string | null> {
  const denial = { kind: 'revoked', reason: closeReasonOf(reason) } as const;
  const entries = sessionIds.map((sessionId) => ({ sessionId, denial, requestId, decidedAt: at.getTime() }));
  try {
    const lifetimeMs = denialLifetimeMs(maxTokenSeconds(shell.config(Type.Object(tokenLifeConfig))));
    await withRedis(shell, ({ redis, keys }) => createDenyList(redis, keys, lifetimeMs).denyAndClose(entries));
    return null;
  } catch (error) {
    // The change is committed, whether Redis answers or not.
    return (error as Error).message;
  }
}
