import { deepStrictEqual } from 'node:assert';
import { randomUUID } from 'node:crypto';
import type { InviteDocument } from '@auth-account/stores/documents';
import type { Answer } from '../http-client.ts';
import { storesOf } from '../stores/stores-of.ts';
import { type Account, logIn, newEmail, type TokenPair } from './accounts.ts';
import { type ApiDriver, bearer, type Caller, dataOf } from './api-driver.ts';
import { joinBy } from './invites.ts';
import type { TestApi } from './test-api.ts';

/** The part of an api that these functions need. */
export type GroupApi = ApiDriver & Pick<TestApi, 'collections'>;

export const currentGroup = (api: ApiDriver, caller: Caller): Promise<Answer> => api.findCurrentGroup(bearer(caller));

export const leave = (api: ApiDriver, caller: Caller): Promise<Answer> => api.leaveGroup(bearer(caller));

export const removeMember = (api: ApiDriver, caller: Caller, user_id: string): Promise<Answer> =>
  api.removeMember({ user_id }, bearer(caller));

export const handOver = (api: ApiDriver, caller: Caller, user_id: string): Promise<Answer> =>
  api.handOverGroup({ user_id }, bearer(caller));

export const accept = (
  api: ApiDriver,
  caller: Caller,
  token: string,
  body: object = { leave_current_group: true },
): Promise<Answer> => api.acceptInvite({ token, ...body }, bearer(caller));

/** Refreshes. Throws if the answer is not 200. */
export function refresh(api: ApiDriver, { refresh_token }: Pick<TokenPair, 'refresh_token'>): Promise<TokenPair> {
  return dataOf(api.refreshTokens({ refresh_token }));
}

/** Writes an invite into the group, and returns its token. */
export async function insertInvite(
  { collections }: Pick<GroupApi, 'collections'>,
  home_group_id: string,
  fields: Partial<InviteDocument> = {},
): Promise<string> {
  const group = await collections.groups.findOne({ _id: home_group_id });
  if (group === null) throw new Error(`there is no group ${home_group_id}`);
  const { account_type, owner_id: created_by } = group;
  const created_at = new Date();
  const expires_at = new Date(created_at.getTime() + 3_600_000);
  const invite = { home_group_id, account_type, created_by, created_at, expires_at, max_uses: null } as const;
  const _id = randomUUID();
  await storesOf(collections).invites.insert({ _id, ...invite, uses: 0, revoked_at: null, ...fields });
  return _id;
}

/** Registers into the group of the invite and logs in. */
export async function joinByInvite(api: GroupApi, invite_token: string): Promise<Account & TokenPair> {
  const email = newEmail();
  const { user_id } = await dataOf(joinBy(api, invite_token, email), 201);
  return { email, user_id, ...(await logIn(api, email)) };
}

/**
 * Asserts what holds in the stores after any sequence of operations. A group's count of members is the number of its
 * users, and exactly one of them owns it. A closed group has no members, and no valid invite. Every live session has
 * the same claims as its user's document.
 */
export async function expectSound({ collections }: Pick<GroupApi, 'collections'>): Promise<void> {
  const [users, groups, sessions, invites] = await Promise.all([
    collections.users.find().toArray(),
    collections.groups.find().toArray(),
    collections.sessions.find({ is_revoked: false }).toArray(),
    collections.invites.find({ revoked_at: null }).toArray(),
  ]);
  const usersOf = Map.groupBy(users, ({ home_group_id }) => home_group_id);
  const faults = groups.flatMap(({ _id, owner_id, member_count, closed_at, account_type }) => {
    const members = usersOf.get(_id) ?? [];
    const owners = members.filter(({ role }) => role === 'owner').map((user) => user._id);
    const isOpen = closed_at === null;
    const found = { members: members.length, owners, isOpen, types: new Set(members.map((user) => user.account_type)) };
    const isEmpty = members.length === 0;
    const should = {
      members: member_count,
      owners: isEmpty ? [] : [owner_id],
      isOpen: !isEmpty,
      types: new Set(isEmpty ? [] : [account_type]),
    };
    const survivors = isOpen ? 0 : invites.filter((invite) => invite.home_group_id === _id).length;
    return isSame(found, should) && survivors === 0 ? [] : [{ group: _id, found, should, survivors }];
  });
  const claims = sessions.flatMap((session) => {
    const user = users.find(({ _id }) => _id === session.user_id);
    const says = [session.claims.home_group_id, session.claims.account_type];
    return isSame(says, [user?.home_group_id, user?.account_type]) ? [] : [{ session: session._id, says }];
  });
  const strays = users.length - groups.reduce((sum, group) => sum + group.member_count, 0);
  deepStrictEqual({ faults, claims, strays }, { faults: [], claims: [], strays: 0 });
}

function isSame(a: unknown, b: unknown): boolean {
  const text = (value: unknown) => JSON.stringify(value, (_, part) => (part instanceof Set ? [...part] : part));
  return text(a) === text(b);
}
