import type { AccountType, RegisteredEvent, RegisterRequest, RegisterResponse } from '@auth-account/contracts';
import { AppError } from '@auth-account/errors';
import { createRegisteredEvent } from '@auth-account/messaging';
import {
  emailKey,
  type GroupStore,
  type InviteDocument,
  type InviteState,
  type InviteStore,
  inviteState,
  isDuplicateKey,
  type OutboxStore,
  type RunTransaction,
  type UserStore,
} from '@auth-account/stores';
import type { ClientSession } from 'mongodb';
import type { Ids } from '../ids.ts';
import type { RequestOrigin } from '../request-origin.ts';
import type { PasswordHasher } from '../security/password-hasher.ts';

export interface RegisterDeps {
  readonly users: Pick<UserStore, 'isEmailTaken' | 'exists' | 'insert'>;
  readonly groups: GroupStore;
  readonly invites: InviteStore;
  readonly outbox: Pick<OutboxStore, 'append'>;
  readonly transaction: RunTransaction;
  readonly hasher: Pick<PasswordHasher, 'hash'>;
  readonly beginHandOver: (event: RegisteredEvent) => void;
  readonly ids: Ids;
  readonly now: () => Date;
}

type RegisterOutput = RegisterResponse['data'];

/** Where the new account will live, and how it comes there. */
type Space = { readonly home_group_id: string; readonly account_type: AccountType } & (
  | { readonly kind: 'new' }
  | { readonly kind: 'join'; readonly token: string }
);

/**
 * Registration (specification, `POST /api/v1/auth/register`).
 *
 * Raises `ERR-EMAIL-ALREADY-EXISTS` (409), `ERR-INVITE-TOKEN-INVALID` (404 where it never named an invite, 410 where it
 * is over) and `ERR-OVERLOADED`. On any of them nothing is stored.
 */
export function createRegister(
  deps: RegisterDeps,
): (input: RegisterRequest, origin: RequestOrigin) => Promise<RegisterOutput> {
  const { users, groups, invites, outbox, transaction, hasher, beginHandOver, ids, now } = deps;

  async function chooseSpace({ space_creation_mode: mode, invite_token: token }: RegisterRequest): Promise<Space> {
    if (mode !== 'JOIN_EXISTING') {
      return {
        kind: 'new',
        home_group_id: ids.groupId(),
        account_type: mode === 'CREATE_NEW_HOME' ? 'HOME' : 'OFFICE',
      };
    }
    const invite = await goodInvite(token ?? '');
    return { kind: 'join', token: invite._id, home_group_id: invite.home_group_id, account_type: invite.account_type };
  }

  async function goodInvite(token: string): Promise<InviteDocument> {
    const invite = await invites.find(token);
    const state = invite && inviteState(invite, now());
    if (invite === undefined || state !== 'good') throw inviteInvalid(token, state);
    return invite;
  }

  /** Reads the invite again, by writing it: a revocation or the last use in between is seen here. */
  async function enter(space: Space, userId: string, at: Date, sent: string, session: ClientSession): Promise<void> {
    const { home_group_id: groupId, account_type } = space;
    if (space.kind === 'new') {
      const group = { _id: groupId, account_type, owner_id: userId, member_count: 1, created_at: at, closed_at: null };
      return groups.insert(group, session);
    }
    const used = await invites.use(space.token, now(), session);
    if (used === undefined) {
      const invite = await invites.find(space.token);
      throw inviteInvalid(sent, invite && inviteState(invite, now()));
    }
    if (!(await groups.addMember(groupId, session))) throw inviteInvalid(sent, 'revoked');
  }

  return async (input, origin) => {
    const { email, password } = input;
    if (await users.isEmailTaken(email)) throw emailTaken(email);
    const space = await chooseSpace(input);
    const password_hash = await hasher.hash(password);

    const at = now();
    const { home_group_id, account_type } = space;
    const isNew = space.kind === 'new';
    const user = {
      _id: ids.entityId(),
      email,
      email_key: emailKey(email),
      password_hash,
      home_group_id,
      account_type,
      role: isNew ? 'owner' : 'member',
      created_at: at,
      joined_at: at,
    } as const;
    const data = {
      user_id: user._id,
      home_group_id,
      account_type,
      space_creation_mode: input.space_creation_mode,
      is_new_group: isNew,
      registered_at: at.toISOString(),
    };
    const event = createRegisteredEvent(data, { id: ids.entityId(), ...origin });

    const work = async (session: ClientSession) => {
      await users.insert(user, session);
      await enter(space, user._id, at, input.invite_token ?? '', session);
      await outbox.append(event, at, session);
    };
    try {
      await transaction(work, { isCommitted: () => users.exists(user._id) });
    } catch (error) {
      throw isDuplicateKey(error, 'email_key_unique') ? emailTaken(email, error) : error;
    }

    beginHandOver(event);
    return { user_id: user._id, home_group_id, account_type, timestamp: now().toISOString() };
  };
}

function emailTaken(email: string, cause?: unknown): AppError {
  return new AppError('ERR-EMAIL-ALREADY-EXISTS', { details: { rejected_email: email }, cause });
}

/** 404: the string never named an invite; 410: it did, and is over (decisions, "Invite token"). */
function inviteInvalid(token: string, state: InviteState | undefined): AppError {
  return new AppError('ERR-INVITE-TOKEN-INVALID', {
    status: state === undefined ? 404 : 410,
    canonical: state === 'expired' ? 'IAD_GROUP_INVITE_EXPIRED' : undefined,
    details: { provided_token: token },
  });
}
