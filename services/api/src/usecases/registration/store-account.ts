import type { AccountType } from '@auth-account/contracts';
import type { RegisterRequest, RegisterResponse } from '@auth-account/contracts/http/register';
import { isAppError } from '@auth-account/errors';
import { createAccountEvent, createRegisteredEvent, eventOrigin } from '@auth-account/messaging';
import {
  emailKey,
  type GroupStore,
  type InviteStore,
  inviteState,
  type PresentUser,
  type UserStore,
} from '@auth-account/stores';
import type { InviteDocument } from '@auth-account/stores/documents';
import type { NewUser } from '@auth-account/stores/users';
import type { ClientSession } from 'mongodb';
import { type Commit, none } from '../../announcements/commit.ts';
import type { Ids } from '../../request/ids.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import { createJudgeInvite, inviteInvalid } from '../invites/invite-validity.ts';
import { knownAs } from '../login/new-device.ts';

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
  /** The sign-in methods, and what else is known of the person. */
  readonly fields: Pick<NewUser, 'password_hash'> & Partial<NewUser>;
}

export interface StoredAccount {
  readonly user: PresentUser;
  readonly data: RegisterResponse['data'];
}

/**
 * Stores a new account. `keep` makes further writes first in the transaction, so that a simultaneous request with the
 * same key waits there and does not conflict at the email address.
 */
export type StoreAccount = (
  account: NewAccount,
  origin: RequestOrigin,
  keep?: (data: RegisterResponse['data'], userId: string, session: ClientSession) => Promise<void>,
) => Promise<StoredAccount>;

/**
 * Ends every registration: the transaction with the account, its space and the events.
 *
 * Raises `ERR-INVITE-TOKEN-INVALID` if the invite is over, and the driver's error if the email address or an identity
 * is taken.
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

/** The space of a new account: a new space, or the space of an invite. */
export type Space = { readonly home_group_id: string; readonly account_type: AccountType } & (
  | { readonly kind: 'new' }
  | { readonly kind: 'join'; readonly token: string; readonly sentToken: string }
);

export interface SpacesDeps {
  readonly groups: Pick<GroupStore, 'insert' | 'isFull' | 'addMember'>;
  readonly invites: Pick<InviteStore, 'find' | 'use'>;
  readonly maxGroupMembers: number;
  readonly ids: Pick<Ids, 'groupId'>;
  readonly now: () => Date;
}

/** The spaces of new accounts. Both functions raise `ERR-INVITE-TOKEN-INVALID`. */
export interface Spaces {
  /** Chooses a new space, or the space of the invite. Stores nothing. */
  choose(input: Pick<RegisterRequest, 'space_creation_mode' | 'invite_token'>): Promise<Space>;
  /** Creates the new space, or uses the invite and counts the user as a member of its group. */
  enter(space: Space, userId: string, at: Date, session: ClientSession): Promise<void>;
}

export function createSpaces(deps: SpacesDeps): Spaces {
  const { groups, invites, maxGroupMembers, ids, now } = deps;
  const judgeInvite = createJudgeInvite(deps);

  async function goodInvite(token: string): Promise<InviteDocument> {
    const invite = await invites.find(token);
    const state = invite && (await judgeInvite(invite));
    if (invite === undefined || state !== 'good') throw inviteInvalid(token, state);
    return invite;
  }

  return {
    async choose({ space_creation_mode: mode, invite_token }) {
      if (mode !== 'JOIN_EXISTING') {
        const account_type = mode === 'CREATE_NEW_HOME' ? 'HOME' : 'OFFICE';
        return { kind: 'new', home_group_id: ids.groupId(), account_type };
      }
      const sentToken = invite_token ?? '';
      const { _id: token, home_group_id, account_type } = await goodInvite(sentToken);
      return { kind: 'join', token, sentToken, home_group_id, account_type };
    },
    async enter(space, userId, at, session) {
      const { home_group_id: _id, account_type } = space;
      if (space.kind === 'new') {
        await groups.insert(
          { _id, account_type, owner_id: userId, member_count: 1, created_at: at, closed_at: null },
          session,
        );
        return;
      }
      // This write fails if the invite was revoked or used up after it was read.
      const used = await invites.use(space.token, now(), session);
      if (used === undefined) {
        const invite = await invites.find(space.token);
        throw inviteInvalid(space.sentToken, invite && inviteState(invite, now()));
      }
      // After the invite was read, somebody filled the group, or the group was closed.
      if (!(await groups.addMember(_id, maxGroupMembers, session))) throw inviteInvalid(space.sentToken, 'used_up');
    },
  };
}

/** `failed` means the service's own fault (a status of 5xx). */
export type RegistrationOutcome = 'created' | 'replayed' | 'refused' | 'failed';

type Mode = RegisterRequest['space_creation_mode'];

/** Registers by `register`, and counts the outcome. */
export type CountRegistration = <T extends object>(mode: Mode, register: () => Promise<T>) => Promise<T>;

/** Reports the outcome of each registration to `onEnd`. */
export function createCountRegistration(onEnd: (mode: Mode, outcome: RegistrationOutcome) => void): CountRegistration {
  return async (mode, register) => {
    try {
      const output = await register();
      onEnd(mode, 'isReplayed' in output && output.isReplayed ? 'replayed' : 'created');
      return output;
    } catch (error) {
      onEnd(mode, isAppError(error) && error.status < 500 ? 'refused' : 'failed');
      throw error;
    }
  };
}
