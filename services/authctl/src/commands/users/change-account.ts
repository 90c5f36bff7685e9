import { randomUUID } from 'node:crypto';
import type { UserDocument } from '@auth-account/stores/documents';
import type { WriteAudit } from '@auth-account/telemetry';
import { CommandError } from '../../cli/command-error.ts';
import type { Outcome, Shell } from '../../cli/shell.ts';
import { type Mongo, withMongo } from '../../compose.ts';
import { loadUser } from './load-user.ts';
import { openAudit, operatorOf } from './operator.ts';

export interface OperatorOptions {
  readonly reason: string;
  readonly as?: string | undefined;
}

/** A change of an account by an operator. */
export interface AccountChange extends Mongo {
  /** The account as it was found. */
  readonly user: UserDocument;
  /** Name of the operator. */
  readonly operator: string;
  readonly reason: string;
  readonly at: Date;
  readonly requestId: string;
  /** Writes a line to the audit log, with the account, the operator and the request. */
  readonly audit: WriteAudit;
}

export interface AccountCommand {
  /** Refuses the account, or asks for a confirmation. */
  readonly before?: (user: UserDocument, now: () => Date) => void | Promise<void>;
  readonly change: (change: AccountChange) => Promise<Outcome>;
}

/**
 * Finds the account and lets the command change it, in the operator's name. Throws a `CommandError` if there is no such
 * account.
 */
export function changeAccount(
  shell: Shell,
  idOrEmail: string,
  { reason, as }: OperatorOptions,
  { before, change }: AccountCommand,
): Promise<Outcome> {
  const operator = operatorOf(as);
  const write = openAudit(shell);
  return withMongo(shell, async (mongo) => {
    const user = await loadUser(mongo.collections, idOrEmail);
    await before?.(user, mongo.now);
    // The time is taken after the question, because the worker looks only for sessions that ended recently.
    const at = mongo.now();
    const requestId = `authctl-${randomUUID()}`;
    const shared = { outcome: 'success', user_id: user._id, operator, request_id: requestId };
    const audit: WriteAudit = (line) => write({ ...shared, ...line });
    return change({ ...mongo, user, operator, reason, at, requestId, audit });
  });
}

/** Creates the error for an account that was changed or erased since it was found. */
export function accountChanged({ _id }: UserDocument): CommandError {
  return new CommandError(`The account ${_id} was changed or erased in between. Look at it (user show) and try again.`);
}

/**
 * Describes an account in a question, so that the operator notices a wrong account. Use it for the terminal only,
 * because a log must not have the email address.
 */
export function describeAccount({ _id, email, display_name, last_login_at }: UserDocument): string {
  const name = display_name === undefined ? '' : `, ${display_name}`;
  return `${_id} (${email}${name}, last login ${last_login_at?.toISOString() ?? 'never'})`;
}
