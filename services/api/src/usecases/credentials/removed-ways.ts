import type { AuthEvent } from '@auth-account/contracts/events';
import type { AccountEventOrigin } from '@auth-account/messaging';
import { passkeyRemovedEvent } from '@auth-account/messaging/account-events';
import type { UserDocument } from '@auth-account/stores/documents';
import type { AuditEvent } from '../../audit/events.ts';

/** Ways in that a recovery takes away. */
export interface RemovedWays {
  /** The ways that are left, as fields of the user's document; empty if all are left. */
  readonly left: Pick<UserDocument, 'passkeys'>;
  /** The recovery's own notice tells the owner. */
  readonly events: readonly AuthEvent[];
  readonly audit: readonly AuditEvent[];
}

/**
 * Returns the ways in besides the password that a recovery takes away: none, those that were added at a time or after
 * it, or all, because somebody else may have registered the account.
 */
export function removedWays(
  { _id: user_id, passkeys = [] }: UserDocument,
  which: 'none' | 'all' | Date,
  nextOrigin: () => AccountEventOrigin,
): RemovedWays {
  const isRemoved = ({ created_at }: { readonly created_at: Date }) =>
    which instanceof Date ? created_at >= which : which === 'all';
  const removed = passkeys.filter(isRemoved);
  const left = passkeys.filter((passkey) => !isRemoved(passkey));
  return {
    left: removed.length > 0 ? { passkeys: left } : {},
    events: removed.map(({ id: passkey_id }) => passkeyRemovedEvent({ user_id, passkey_id }, nextOrigin())),
    audit: removed.map(({ id: passkey_id }) => ({
      event: 'passkey.removed',
      user_id,
      session_id: undefined,
      passkey_id,
    })),
  };
}
