import { type AccountEventOrigin, eventOrigin } from '@auth-account/messaging';
import type { UserDocument } from '@auth-account/stores/documents';
import type { WriteAudit } from '@auth-account/telemetry';
import { v7 } from 'uuid';
import type { Mongo } from '../context.ts';
import { OperationError } from '../operation-error.ts';
import { assertOperator, type Operator } from '../operator.ts';
import type { Plan } from '../plan.ts';
import { loadAccount } from './load-account.ts';

/** Everything that a change of an account by an operator needs. */
export interface AccountContext extends Omit<Mongo, 'db'> {
  readonly operator: Operator;
}

/** A change of an account in the name of the operator, whose audit lines have the account and the request. */
export interface AccountChange extends Omit<AccountContext, 'operator'>, Operator {
  /** The account as it was found. */
  readonly user: UserDocument;
  readonly at: Date;
  /** Returns the origin of the next event. */
  readonly nextOrigin: () => AccountEventOrigin;
}

export interface ChangeSteps<T> {
  /** Throws an `OperationError` if the account may not be changed so. */
  readonly refuse?: (user: UserDocument, now: Date) => void;
  /** Returns the question for a person who confirms the change. Rejects like `refuse`. */
  readonly questionOf: (user: UserDocument, now: Date) => string | Promise<string>;
  readonly change: (change: AccountChange) => Promise<T>;
}

/**
 * Finds the account and plans its change, in the operator's name. Throws an `OperationError`: `unknown` if there is no
 * such account, `invalid` if the operator's name or reason may not go into the logs, `refused` by the step.
 */
export async function planChange<T>(
  { operator, ...mongo }: AccountContext,
  idOrEmail: string,
  { refuse, questionOf, change }: ChangeSteps<T>,
): Promise<Plan<T>> {
  assertOperator(operator);
  const { name, requestId } = operator;
  const user = await loadAccount(mongo.collections, idOrEmail);
  refuse?.(user, mongo.now());
  return {
    question: await questionOf(user, mongo.now()),
    run() {
      // The time is taken after the question, because the worker looks only for sessions that ended recently.
      const at = mongo.now();
      const shared = { outcome: 'success', user_id: user._id, operator: name, request_id: requestId };
      const audit: WriteAudit = (line) => operator.audit({ ...shared, ...line });
      const nextOrigin = () => eventOrigin({ requestId }, at, { entityId: v7 });
      return change({ ...mongo, ...operator, user, at, nextOrigin, audit });
    },
  };
}

/** Creates the error for an account that was changed or erased since it was found. */
export function accountChanged({ _id }: UserDocument): OperationError {
  const about = { code: 'account_changed', subject: _id } as const;
  return new OperationError('changed', `The account ${_id} was changed or erased in between.`, about);
}

/** Creates the error for an account for which the change is out of place. */
export function refused(message: string): OperationError {
  return new OperationError('refused', message);
}

/**
 * Describes an account in a question, so that the operator notices a wrong account. Use it for people only, because a
 * log must not have the email address.
 */
export function describeAccount({ _id, email, display_name, last_login_at }: UserDocument): string {
  const name = display_name === undefined ? '' : `, ${display_name}`;
  return `${_id} (${email}${name}, last login ${last_login_at?.toISOString() ?? 'never'})`;
}
