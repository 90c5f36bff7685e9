import type { WriteAudit } from '@auth-account/telemetry';
import { OperationError } from './operation-error.ts';

/** The person on whose order an operation runs. */
export interface Operator {
  readonly name: string;
  /** Reason for the logs, without personal data. */
  readonly reason: string;
  /** Request id of everything that the operation writes. */
  readonly requestId: string;
  /** Writes a line to the audit log. */
  readonly audit: WriteAudit;
}

/** Returns the reason for which a text may not be the name of an operator. The subject of an OpenID provider may be one. */
export function findNameFault(name: string): string | undefined {
  if (/^[^\p{Cc}\p{Cs}]{1,255}$/u.test(name)) return undefined;
  return 'It must have 1 to 255 characters, none of them a control character.';
}

/** Returns the reason for which a text may not be an operator's reason. */
export function findReasonFault(reason: string): string | undefined {
  if (reason.length < 1 || reason.length > 256) return 'It must have 1 to 256 characters.';
  // An email address is usually a mistake, because every log line names the account anyway.
  return /\S@\S/.test(reason) ? 'It goes into logs: it must have no e-mail address.' : undefined;
}

/** Throws an `OperationError` of the kind `invalid` if the operator's name or reason may not go into the logs. */
export function assertOperator({ name, reason }: Pick<Operator, 'name' | 'reason'>): void {
  const nameFault = findNameFault(name);
  if (nameFault !== undefined) throw new OperationError('invalid', `The operator's name: ${nameFault}`);
  assertReason(reason);
}

/** Throws an `OperationError` of the kind `invalid` if the reason may not go into the logs. */
export function assertReason(reason: string): void {
  const fault = findReasonFault(reason);
  if (fault !== undefined) throw new OperationError('invalid', `The reason: ${fault}`);
}
