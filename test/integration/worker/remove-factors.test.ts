import { randomUUID } from 'node:crypto';
import type { DenyEntry } from '@auth-account/messaging/deny-list';
import { createTransactionRunner } from '@auth-account/stores';
import type { FactorRemoval, UserDocument } from '@auth-account/stores/documents';
import { newRemoval } from '@auth-account/stores/factor-removals';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Binary } from 'mongodb';
import { createRemoveFactors } from '../../../services/worker/src/second-factor/remove-factors.ts';
import { type AccountFixture, openAccountFixture } from '../../support/api/account-fixture.ts';

let fixture: AccountFixture;
let removed: string[];
let failed: unknown[];
let denied: DenyEntry[];
beforeAll(async () => {
  fixture = await openAccountFixture();
});
beforeEach(async () => {
  [removed, failed, denied] = [[], [], []];
  await fixture.clear();
});
afterAll(() => fixture.close());

const minute = 60_000;
const ago = (minutes: number) => new Date(fixture.now().getTime() - minutes * minute);

/** Runs a round of one worker. */
const round = (given: Partial<Parameters<typeof createRemoveFactors>[0]> = {}) =>
  createRemoveFactors({
    ...fixture.deps,
    denyList: { denyAndClose: async (entries) => void denied.push(...entries) },
    onRemoved: ({ userId }) => void removed.push(userId),
    onFailed: (userId) => void failed.push(userId),
    newEventId: fixture.deps.ids.entityId,
    newRequestId: randomUUID,
    now: fixture.now,
    ...given,
  })();

/** Stores an account whose second factor is to be removed at that time. */
function guarded(due_at: Date, fields: Partial<UserDocument> = {}): Promise<UserDocument> {
  const removal: FactorRemoval = { ...newRemoval(ago(5_000), 'mail'), due_at };
  const sealed = { factor_id: randomUUID(), kid: 'k', seed: new Binary(Buffer.alloc(48)) };
  return fixture.user({
    totp: { ...sealed, confirmed_at: ago(9_000), last_step: 7, removal },
    pending_totp: { ...sealed, until: ago(-60), version: 'v' },
    recovery_codes: ['hash'],
    trusted_devices: [
      { device_id: randomUUID(), token: 't', version: 'v', trusted_at: ago(9_000), until: ago(-9_000) },
    ],
    ...fields,
  });
}

const partsOf = async ({ _id }: UserDocument) => {
  const { totp, pending_totp, recovery_codes, trusted_devices } = (await fixture.storedUser(_id)) ?? {};
  return [totp, pending_totp, recovery_codes, trusted_devices].filter((part) => part !== undefined).length;
};

describe('a removal that is due', () => {
  test('a removal that is due takes the factor with all that belongs to it, and nothing else', async () => {
    const user = await guarded(ago(2), { ways_changed_at: ago(-1), locale: 'ru' });
    const other = await fixture.user();
    await round({ newRequestId: () => 'round-1' });
    expect([removed, failed, await partsOf(user)]).toEqual([[user._id], [], 0]);
    const { totp, pending_totp, recovery_codes, trusted_devices, ...rest } = user;
    const ways_changed_at = new Date((user.ways_changed_at?.getTime() ?? 0) + 1);
    expect(await fixture.storedUser(user._id)).toEqual({ ...rest, ways_changed_at, touches: 1 });
    expect(await fixture.storedUser(other._id)).toEqual(other);
    const data = { user_id: user._id, changed_at: fixture.now().toISOString(), change: 'switched_off' };
    expect((await fixture.rows()).map(({ event }) => [event.requestid, event.data])).toEqual([
      ['round-1', data],
      ['round-1', { user_id: user._id, purpose: 'second_factor_off', locale: 'ru' }],
    ]);
  });

  test('a removal that is due ends open codes and the sessions that were opened before it was due, and no later one', async () => {
    const user = await guarded(ago(2));
    const { _id: user_id } = user;
    const code = await fixture.challenge(user, 'password_reset');
    const { document: old } = await fixture.session({ user_id, created_at: ago(3) });
    const { document: owners } = await fixture.session({ user_id, created_at: ago(2) });
    await round();
    expect((await fixture.rows()).map(({ event }) => event.data)).toContainEqual({
      user_id,
      purpose: 'second_factor_off',
      locale: 'en',
    });
    expect(await fixture.asStored(old._id)).toMatchObject({ is_revoked: true, revoked_reason: 'revoked_by_user' });
    expect(await fixture.asStored(owners._id)).toEqual(owners);
    expect(denied).toMatchObject([{ sessionId: old._id, denial: { kind: 'revoked', reason: 'SESSION_REVOKED' } }]);
    expect((await fixture.storedChallenge(code.challenge_id))?.ended_at).toEqual(fixture.now());
  });

  // guarantees: factor-removal-in-72-hours
  test('a removal waits a minute after its time, for clocks that differ, and is never early', async () => {
    const users = [await guarded(ago(0.99)), await guarded(ago(0)), await guarded(ago(-1))];
    await round();
    expect([removed, failed]).toEqual([[], []]);
    for (const user of users) expect(await fixture.storedUser(user._id)).toEqual(user);
  });

  test('a removal that is due is carried out once by any number of workers, for any number of accounts', async () => {
    const users = await Promise.all(Array.from({ length: 103 }, () => guarded(ago(2))));
    const worker = { transaction: createTransactionRunner(fixture.mongo) };
    await Promise.all([round(worker), round(worker)]);
    expect(removed.toSorted()).toEqual(users.map(({ _id }) => _id).toSorted());
    expect([failed, (await fixture.rows()).length]).toEqual([[], 206]);
  });

  test('a removal that fails is skipped, and comes in a later round', async () => {
    const [one, two] = [await guarded(ago(3)), await guarded(ago(2))];
    const { factorRemovals } = fixture.deps;
    const carryOut: typeof factorRemovals.carryOut = async (due, ...rest) => {
      if (due.userId === one._id) throw new Error('not today');
      return factorRemovals.carryOut(due, ...rest);
    };
    await round({ factorRemovals: { ...factorRemovals, carryOut } });
    expect([removed, failed]).toEqual([[two._id], [one._id]]);
    await round();
    expect([removed, await partsOf(one)]).toEqual([[two._id, one._id], 0]);
  });

  test('a removal is committed although Redis is away, and the reconciliation ends the streams', async () => {
    const user = await guarded(ago(2));
    await round({ denyList: { denyAndClose: () => Promise.reject(new Error('Redis is away')) } });
    expect([removed, failed, await partsOf(user)]).toEqual([[user._id], [user._id], 0]);
  });

  test('a removal does not touch an order that a stop or a new app has ended since it was listed', async () => {
    const [stopped, replaced] = [await guarded(ago(2)), await guarded(ago(2))];
    const { factorRemovals } = fixture.deps;
    const listDue: typeof factorRemovals.listDue = async (...page) => {
      const found = await factorRemovals.listDue(...page);
      await fixture.collections.users.updateOne({ _id: stopped._id }, { $unset: { 'totp.removal': true } });
      const removal = { ...newRemoval(ago(0), 'staff'), due_at: ago(1) };
      await fixture.collections.users.updateOne({ _id: replaced._id }, { $set: { 'totp.removal': removal } });
      return found;
    };
    await round({ factorRemovals: { ...factorRemovals, listDue } });
    expect([removed, failed, await fixture.rows()]).toEqual([[], [], []]);
    expect([await partsOf(stopped), await partsOf(replaced)]).toEqual([4, 4]);
  });
});

// guarantees: factor-removal-in-72-hours
test('either a stop or a removal at the same time succeeds, and the stop only before the removal is due', async () => {
  const { factorRemovals, transaction } = fixture.deps;
  for (const minutes of [2, -2]) {
    const user = await guarded(ago(minutes));
    const removal = user.totp?.removal;
    if (removal === undefined) throw new Error('no removal is ordered');
    const at = fixture.now();
    const due = { userId: user._id, removal, locale: undefined };
    const never = { isCommitted: async () => false };
    const [isRemoved, isStopped] = await Promise.all([
      transaction((session) => factorRemovals.carryOut(due, at, session), never),
      transaction((session) => factorRemovals.stop(user._id, removal.id, at, session), never),
    ]);
    expect([minutes, isRemoved, isStopped]).toEqual([minutes, minutes > 0, minutes < 0]);
    expect((await fixture.storedUser(user._id))?.totp === undefined).toBe(minutes > 0);
  }
});
