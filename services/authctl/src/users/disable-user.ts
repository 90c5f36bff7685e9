import { randomUUID } from 'node:crypto';
import { longestTokenSeconds, tokenLifeConfig } from '@auth-account/config';
import { createDenyList, denialLifetimeMs } from '@auth-account/messaging/deny-list';
import { closeReasonOf, runTransaction } from '@auth-account/stores';
import type { ClientSession } from 'mongodb';
import { Type } from 'typebox';
import { CommandError } from '../cli/command-error.ts';
import type { Outcome, Shell } from '../cli/shell.ts';
import { type Mongo, withMongo, withRedis } from '../compose.ts';
import { loadUser } from './load-user.ts';
import { openAudit, operatorOf } from './operator.ts';

export interface OperatorOptions {
  readonly reason: string;
  readonly as?: string | undefined;
}

const reason = 'account_disabled';

/**
 * Disables an account, and ends its sessions in the same transaction. It writes the user's document, like every login,
 * so that no login slips past. Then the streams are closed; if Redis is away, the worker does that once it is back.
 */
export function disableUser(shell: Shell, idOrEmail: string, options: OperatorOptions): Promise<Outcome> {
  const operator = operatorOf(options.as);
  const audit = openAudit(shell);
  return withMongo(shell, async (mongo) => {
    const { _id: user_id } = await loadUser(mongo.collections, idOrEmail);
    const at = shell.now();
    const requestId = `authctl-${randomUUID()}`;
    const disabled = { at, reason: options.reason, by: operator };
    const work = async (session: ClientSession) => {
      const { users, sessions } = mongo.stores;
      const isDone = await users.disable(user_id, disabled, session);
      if (!isDone) throw new CommandError(`The account ${user_id} is disabled already.`);
      const ids = (await sessions.listLive(user_id, session)).map(({ _id }) => _id);
      await sessions.revokeAll(ids, { reason, at, requestId }, session);
      return ids;
    };
    const isCommitted = () => mongo.stores.users.isDisabledSince(user_id, at);
    const sessionIds = await runTransaction(mongo.client, work, { isCommitted });
    const shared = { outcome: 'success', user_id, operator, request_id: requestId };
    audit({ ...shared, event: 'account.disabled', operator_reason: options.reason });
    for (const session_id of sessionIds) audit({ ...shared, event: 'session.revoked', session_id, reason });
    const problem = await closeStreams(shell, sessionIds, { at, requestId });
    const json = { user_id, disabled_at: at, sessions: sessionIds.length, request_id: requestId, problem };
    const done = `Disabled. Sessions ended: ${sessionIds.length}. Request id: ${requestId}`;
    const late = `The streams are not closed yet (${problem}): the worker closes them.`;
    return { json, text: problem === null ? done : `${done}\n${late}` };
  });
}

/** Writes the ends to the deny list, which closes the streams. Returns why that is left to the worker, or null. */
async function closeStreams(
  shell: Shell,
  sessionIds: readonly string[],
  { at, requestId }: { readonly at: Date; readonly requestId: string },
): Promise<string | null> {
  const denial = { kind: 'revoked', reason: closeReasonOf(reason) } as const;
  const entries = sessionIds.map((sessionId) => ({ sessionId, denial, requestId, decidedAt: at.getTime() }));
  try {
    const lifetimeMs = denialLifetimeMs(longestTokenSeconds(shell.config(Type.Object(tokenLifeConfig))));
    await withRedis(shell, ({ redis, keys }) => createDenyList(redis, keys, lifetimeMs).denyAndClose(entries));
    return null;
  } catch (error) {
    // The account is disabled, whatever Redis says.
    return (error as Error).message;
  }
}

/** Lets a disabled account log in again. */
export function enableUser(shell: Shell, idOrEmail: string, options: OperatorOptions): Promise<Outcome> {
  const operator = operatorOf(options.as);
  const audit = openAudit(shell);
  return withMongo(shell, async ({ collections, stores }: Mongo) => {
    const { _id: user_id } = await loadUser(collections, idOrEmail);
    if (!(await stores.users.enable(user_id))) throw new CommandError(`The account ${user_id} is not disabled.`);
    const requestId = `authctl-${randomUUID()}`;
    const shared = { outcome: 'success', user_id, operator, request_id: requestId };
    audit({ ...shared, event: 'account.enabled', operator_reason: options.reason });
    return { json: { user_id, request_id: requestId }, text: `Enabled. Request id: ${requestId}` };
  });
}
