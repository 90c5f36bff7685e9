import type { AuthEvent } from '@auth-account/contracts/events';
import type { AccountEventOrigin } from '@auth-account/messaging';
import {
  identityUnlinkedEvent,
  passkeyRemovedEvent,
  secondFactorRemovedEvent,
} from '@auth-account/messaging/account-events';
import type { PresentUser } from '@auth-account/stores';
import { everAdded, type MethodsToRemove, type RemovedMethods } from '@auth-account/stores/method-removals';
import { type RemovableField, secondFactorFields } from '@auth-account/stores/second-factors';
import type { AuditEvent } from '../../audit/events.ts';

/** The loss of an account by a recovery, besides the password. */
export interface Loss {
  readonly signInMethods: MethodsToRemove;
  /** Fields of the user's document that are removed. */
  readonly gone: readonly RemovableField[];
  /** True if an ordered removal of the second factor ends, and the factor stays. */
  readonly endsOrder: boolean;
  /** Returns what is announced, once the write has removed these methods. */
  announce(removed: RemovedMethods): LossAnnounced;
}

export interface LossAnnounced {
  /** The recovery's own notification names them to the owner. */
  readonly events: readonly AuthEvent[];
  readonly audit: readonly AuditEvent[];
}

/**
 * Returns what a recovery takes away of the sign-in methods besides the password, and of the second factor: nothing,
 * what was added at a time or after it, or all, because somebody else may have registered the account. A removal of the
 * second factor that was ordered from a mailbox at that time or after it ends too, because its mail went to that
 * mailbox.
 */
export function lossBy(
  { _id: user_id, totp: present, due_totp: totp = present }: PresentUser,
  which: 'none' | 'all' | Date,
  nextOrigin: () => AccountEventOrigin,
): Loss {
  const since = which === 'all' ? everAdded : which;
  const isRemoved = (at: Date) => since !== 'none' && at >= since;
  const isSwitchedOff = totp !== undefined && isRemoved(totp.confirmed_at);
  const { removal: ordered } = present ?? {};
  const endsOrder = !isSwitchedOff && ordered?.by === 'mail' && isRemoved(ordered.ordered_at);
  const order = endsOrder ? (['totp.removal'] as const) : [];
  const by = { user_id, session_id: undefined };
  const switchedOff = { event: 'account.second_factor_off', ...by } as const;
  const stopped = { event: 'account.second_factor_removal_stopped', ...by } as const;
  return {
    signInMethods: since === 'none' ? {} : { passkeys: since, identities: since },
    gone: isSwitchedOff || which === 'all' ? secondFactorFields : order,
    endsOrder,
    announce: ({ passkeys, identities }) => ({
      events: [
        ...passkeys.map(({ id: passkey_id }) => passkeyRemovedEvent({ user_id, passkey_id }, nextOrigin())),
        ...identities.map(({ id: identity_id, provider }) =>
          identityUnlinkedEvent({ user_id, identity_id, provider }, nextOrigin()),
        ),
        ...(isSwitchedOff ? [secondFactorRemovedEvent({ user_id }, nextOrigin())] : []),
      ],
      audit: [
        ...passkeys.map(({ id: passkey_id }) => ({ event: 'passkey.removed', ...by, passkey_id }) as const),
        ...identities.map(
          ({ id: identity_id, provider }) => ({ event: 'identity.unlinked', ...by, identity_id, provider }) as const,
        ),
        ...(isSwitchedOff ? [switchedOff] : []),
        ...(endsOrder ? [stopped] : []),
      ],
    }),
  };
}
