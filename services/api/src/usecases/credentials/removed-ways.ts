import type { AuthEvent } from '@auth-account/contracts/events';
import type { AccountEventOrigin } from '@auth-account/messaging';
import {
  identityUnlinkedEvent,
  passkeyRemovedEvent,
  secondFactorRemovedEvent,
} from '@auth-account/messaging/account-events';
import type { PresentUser } from '@auth-account/stores';
import type { IdentityDocument, UserDocument } from '@auth-account/stores/documents';
import { type RemovableField, secondFactorFields } from '@auth-account/stores/second-factors';
import type { AuditEvent } from '../../audit/events.ts';

/** Ways in that a recovery takes away. */
export interface RemovedWays {
  /** The ways that are left, as fields of the user's document; empty if all are left. */
  readonly left: Pick<UserDocument, 'passkeys' | 'identities'>;
  /** The identities that are removed. The tokens of their providers must be revoked. */
  readonly unlinked: readonly IdentityDocument[];
  /** Fields of the user's document that are removed. */
  readonly gone: readonly RemovableField[];
  /** True if an ordered removal of the second factor ends, and the factor stays. */
  readonly endsOrder: boolean;
  /** The recovery's own notice tells the owner of them. */
  readonly events: readonly AuthEvent[];
  readonly audit: readonly AuditEvent[];
}

/**
 * Returns the ways in besides the password, and the second factor, that a recovery takes away: none, those that were
 * added at a time or after it, or all, because somebody else may have registered the account. A removal of the second
 * factor that was ordered from a mailbox at that time or after it ends too, because its mail went to that mailbox.
 */
export function removedWays(
  { _id: user_id, passkeys = [], identities = [], totp: present, due_totp: totp = present }: PresentUser,
  which: 'none' | 'all' | Date,
  nextOrigin: () => AccountEventOrigin,
): RemovedWays {
  const isRemoved = (at: Date) => (which instanceof Date ? at >= which : which === 'all');
  const [removed, left] = partition(passkeys, isRemoved);
  const [unlinked, linked] = partition(identities, isRemoved);
  const isSwitchedOff = totp !== undefined && isRemoved(totp.confirmed_at);
  const { removal: ordered } = present ?? {};
  const endsOrder = !isSwitchedOff && ordered?.by === 'mail' && isRemoved(ordered.ordered_at);
  const order = endsOrder ? (['totp.removal'] as const) : [];
  const switchedOff = { event: 'account.second_factor_off', user_id, session_id: undefined } as const;
  const stopped = { event: 'account.second_factor_removal_stopped', user_id, session_id: undefined } as const;
  const removal = (passkey_id: string) =>
    ({ event: 'passkey.removed', user_id, session_id: undefined, passkey_id }) as const;
  const unlinking = (identity_id: string, provider: string) =>
    ({ event: 'identity.unlinked', user_id, session_id: undefined, identity_id, provider }) as const;
  return {
    left: {
      ...(removed.length > 0 && { passkeys: left }),
      ...(unlinked.length > 0 && { identities: linked }),
    },
    unlinked,
    gone: isSwitchedOff || which === 'all' ? secondFactorFields : order,
    endsOrder,
    events: [
      ...removed.map(({ id: passkey_id }) => passkeyRemovedEvent({ user_id, passkey_id }, nextOrigin())),
      ...unlinked.map(({ id: identity_id, provider }) =>
        identityUnlinkedEvent({ user_id, identity_id, provider }, nextOrigin()),
      ),
      ...(isSwitchedOff ? [secondFactorRemovedEvent({ user_id }, nextOrigin())] : []),
    ],
    audit: [
      ...removed.map(({ id }) => removal(id)),
      ...unlinked.map(({ id: identity_id, provider }) => unlinking(identity_id, provider)),
      ...(isSwitchedOff ? [switchedOff] : []),
      ...(endsOrder ? [stopped] : []),
    ],
  };
}

function partition<W extends { readonly created_at: Date }>(ways: readonly W[], isRemoved: (at: Date) => boolean) {
  const removed = ways.filter(({ created_at }) => isRemoved(created_at));
  return [removed, ways.filter((way) => !removed.includes(way))] as const;
}
