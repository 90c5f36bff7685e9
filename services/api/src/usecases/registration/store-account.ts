import type { RegisterRequest, RegisterResponse } from '@auth-account/contracts/http/register';
import { createAccountEvent, createRegisteredEvent, eventOrigin } from '@auth-account/messaging';
import { emailKey, type PresentUser, type UserStore } from '@auth-account/stores';
import type { NewUser } from '@auth-account/stores/users';
import type { ClientSession } from 'mongodb';
import { type Commit, none } from '../../announcements/commit.ts';
import type { Ids } from '../../request/ids.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import { knownAs } from '../login/new-device.ts';
import type { Space, Spaces } from './spaces.ts';

export interface StoreAccountDeps {
  readonly users: Pick<UserStore, 'exists' | 'insert'>;
  readonly spaces: Spaces;
  readonly commit: Commit;
  readonly ids: Ids;
  readonly now: () => Date;
}

/** An account that is to be stored. */
export interface NewAccount extends Pick<RegisterRequest, 'email' | 'device_id' | 'space_creation_mode'> {
  readonly space: Space;
  /** The ways in, and what else is known of the person. */
  readonly fields: Pick<NewUser, 'password_hash'> & Partial<NewUser>;
}

export interface StoredAccount {
  readonly user: PresentUser;
  readonly data: RegisterResponse['data'];
}

/**
 * Stores a new account. `keep` makes further writes first in the transaction, so that a simultaneous request with the
 * same key waits there and does not conflict at the address.
 */
export type StoreAccount = (
  account: NewAccount,
  origin: RequestOrigin,
  keep?: (data: RegisterResponse['data'], userId: string, session: ClientSession) => Promise<void>,
) => Promise<StoredAccount>;

/**
 * Creates the end of every registration: the transaction with the account, its space and the events.
 *
 * Raises `ERR-INVITE-TOKEN-INVALID` if the invite is over, and the driver's error if the address or an identity is taken.
 */
export function createStoreAccount(deps: StoreAccountDeps): StoreAccount {
  const { users, spaces, commit } = deps;
  return async (account, origin, keep) => {
    const { space } = account;
    const { user, events, data, at } = prepare(deps, account, origin);
    const { stored } = await commit(
      {
        at,
        // A new group needs no lock, because nobody else knows it yet.
        lockKey: space.kind === 'join' ? space.home_group_id : undefined,
        isCommitted: () => users.exists(user._id),
        ifClientLeft: 'commit',
        async work(session) {
          await keep?.(data, user._id, session);
          const stored = await users.insert(user, session);
          await spaces.enter(space, user._id, at, session);
          return { stored, events, audit: [{ event: 'account.registered', user_id: user._id }], sessions: none };
        },
      },
      origin,
    );
    return { user: stored, data };
  };
}

/** Creates all data that one registration stores, before the transaction, so that the transaction can run again. */
function prepare(
  { ids, now }: StoreAccountDeps,
  { email, device_id, space_creation_mode, space, fields }: NewAccount,
  origin: RequestOrigin,
) {
  const at = now();
  const { home_group_id, account_type } = space;
  const isNew = space.kind === 'new';
  const user: NewUser = {
    _id: ids.entityId(),
    email,
    email_key: emailKey(email),
    home_group_id,
    account_type,
    role: isNew ? 'owner' : 'member',
    created_at: at,
    joined_at: at,
    // It has no session yet.
    spent_touches: 0,
    ...(space.kind === 'join' && { joined_by: space.token }),
    ...(device_id && { known_devices: [knownAs({ device_id })] }),
    ...fields,
  };
  const registered = { user_id: user._id, home_group_id, account_type };
  const nextOrigin = () => eventOrigin(origin, at, ids);
  const event = createRegisteredEvent(
    { ...registered, space_creation_mode, is_new_group: isNew, registered_at: at.toISOString() },
    nextOrigin(),
  );
  const verified = { user_id: user._id, verified_at: at.toISOString() };
  const isVerified = fields.email_verified_at !== undefined;
  const events = isVerified
    ? [event, createAccountEvent('service.auth.events.email_verified', verified, nextOrigin())]
    : [event];
  return { user, events, data: { ...registered, timestamp: at.toISOString() }, at };
}
