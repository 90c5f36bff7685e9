import { randomUUID } from 'node:crypto';
import type { UserDocument } from '@auth-account/stores/documents';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createHandOverGroup } from '../../../services/api/src/usecases/groups/hand-over-group.ts';
import { type AccountFixture, openAccountFixture } from '../../support/api/account-fixture.ts';
import { bearerOf } from '../../support/api/use-case-fixture.ts';

let fixture: AccountFixture;
beforeAll(async () => {
  fixture = await openAccountFixture();
});
beforeEach(async () => {
  await fixture.clear();
  await fixture.collections.groups.deleteMany();
});
afterAll(() => fixture.close());

/** Stores a group with its owner and another member. */
async function household() {
  const owner = await fixture.user();
  const { _id: owner_id, home_group_id, account_type } = owner;
  const member = await fixture.user({ home_group_id, role: 'member' });
  const group = { _id: home_group_id, account_type, owner_id, member_count: 2, created_at: fixture.now() };
  await fixture.collections.groups.insertOne({ ...group, closed_at: null });
  return { owner, member };
}

const sidOf = (user: UserDocument) => `session of ${user._id}`;
const handOver = (caller: UserDocument, user_id: string) => {
  const { _id, home_group_id, account_type } = caller;
  const claims = { home_group_id, account_type, ver: 1 };
  const document = { _id: sidOf(caller), user_id: _id, device_id: randomUUID(), claims };
  const own = { ...bearerOf({ document: { ...claims, ...document } as never }) };
  return createHandOverGroup({ ...fixture.deps })({ user_id }, own, fixture.origin);
};
const roles = (...users: UserDocument[]) =>
  Promise.all(users.map(async ({ _id }) => (await fixture.storedUser(_id))?.role));
const ownerOf = ({ home_group_id: _id }: UserDocument) =>
  fixture.collections.groups.findOne({ _id }).then((group) => group?.owner_id);

describe('a group that is handed over', () => {
  test('a group that is handed over has a new owner, in the group and in both accounts, and the audit log names who gave it', async () => {
    const { owner, member } = await household();
    const { home_group_id } = owner;
    const third = await fixture.user({ home_group_id, role: 'member' });
    const other = await household();
    const timestamp = fixture.now().toISOString();
    const answer = { message: 'OWNER_CHANGED', user_id: member._id, timestamp };
    expect(await handOver(owner, member._id.toUpperCase())).toEqual(answer);
    expect(await roles(owner, member, third, other.owner)).toEqual(['member', 'owner', 'member', 'owner']);
    expect([await ownerOf(owner), await ownerOf(other.owner)]).toEqual([member._id, other.owner._id]);
    const ids = { user_id: member._id, session_id: sidOf(owner), home_group_id, handed_over_by: owner._id };
    expect(fixture.audited).toEqual([[{ event: 'group.owner_changed', ...ids }, fixture.origin]]);
    expect(fixture.verdicts).toEqual([false, true]);
  });

  test('a group that is handed over by its owner to the same user stays as it is', async () => {
    const { owner, member } = await household();
    expect(await handOver(owner, owner._id)).toMatchObject({ message: 'OWNER_CHANGED', user_id: owner._id });
    expect([await roles(owner, member), await ownerOf(owner)]).toEqual([['owner', 'member'], owner._id]);
    expect(fixture.audited).toEqual([]);
  });

  test.each<[string, string, (house: Awaited<ReturnType<typeof household>>) => Promise<[UserDocument, string]>]>([
    ['a member', 'ERR-GROUP-OWNER-REQUIRED', async ({ member }) => [member, member._id]],
    [
      'somebody who has left the group',
      'IAD_JWT_ACCESS_INVALID',
      async ({ owner, member }) => {
        const { home_group_id } = owner;
        return [{ ...(await fixture.user()), home_group_id }, member._id];
      },
    ],
    [
      'the owner to a user outside the group',
      'ERR-GROUP-MEMBER-NOT-FOUND',
      async ({ owner }) => [owner, (await fixture.user())._id],
    ],
  ])('a group that is handed over by %s stays as it is', async (_, code, people) => {
    const house = await household();
    const [caller, to] = await people(house);
    await expect(handOver(caller, to)).rejects.toMatchObject({ code });
    expect(await roles(house.owner, house.member)).toEqual(['owner', 'member']);
    expect([await ownerOf(house.owner), fixture.audited]).toEqual([house.owner._id, []]);
  });
});
