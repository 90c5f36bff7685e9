import { randomUUID } from 'node:crypto';
import { createTransactionRunner, type PresentUser } from '@auth-account/stores';
import type { FactorRemoval, UserDocument } from '@auth-account/stores/documents';
import { newRemoval } from '@auth-account/stores/factor-removals';
import { createRemovalStopTokens, generateSecretKey, MissingKeyError } from '@auth-account/tokens';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Binary } from 'mongodb';
import { createOrderFactorRemoval } from '../../../services/api/src/usecases/second-factor/order-factor-removal.ts';
import {
  createStopFactorRemoval,
  createStopFactorRemovalByToken,
} from '../../../services/api/src/usecases/second-factor/stop-factor-removal.ts';
import { type AccountFixture, openAccountFixture } from '../../support/api/account-fixture.ts';
import { bearerOf } from '../../support/api/use-case-fixture.ts';

let fixture: AccountFixture;
beforeAll(async () => {
  fixture = await openAccountFixture();
});
beforeEach(() => fixture.clear());
afterAll(() => fixture.close());

const purpose = 'second_factor_removal';
const topic = 'security.second_factor_removal';
const hours72 = 72 * 3_600_000;
const removalStopTokens = createRemovalStopTokens({ keys: [generateSecretKey()] });
const invalid = { code: 'ERR-CODE-INVALID', details: { tries_left: 0 } };

const totp = (fields: object = {}) => ({
  ...{
    factor_id: randomUUID(),
    kid: 'k',
    seed: new Binary(Buffer.alloc(48)),
    confirmed_at: fixture.now(),
    last_step: 7,
  },
  ...fields,
});
const guarded = (fields: object = {}) => fixture.user({ totp: totp(fields) });
const order = async (user: UserDocument) =>
  createOrderFactorRemoval(fixture.deps)(await fixture.challenge(user, purpose), fixture.origin);
const stopBy = (token: string, given: object = {}) =>
  createStopFactorRemovalByToken({ ...fixture.deps, removalStopTokens, ...given })(
    { stop_token: token },
    fixture.origin,
  );
const stored = async ({ _id }: UserDocument) => (await fixture.storedUser(_id))?.totp?.removal;
const purposes = async () =>
  (await fixture.rows()).flatMap(({ event }) => ('purpose' in event.data ? [event.data.purpose] : []));

/** Stores an account whose removal is due in that time. */
async function ordered(ms: number) {
  const removal: FactorRemoval = {
    ...newRemoval(fixture.now(), 'mail'),
    due_at: new Date(fixture.now().getTime() + ms),
  };
  return { removal, user: await guarded({ removal }), token: removalStopTokens.issue(removal.id) };
}

describe('an order to remove the second factor', () => {
  test('an order to remove the second factor is stored with its time, mailed, audited, and sent to the live sessions', async () => {
    const user = await guarded();
    const { document: live } = await fixture.session({ user_id: user._id });
    await fixture.session({ user_id: user._id, is_revoked: true });
    const due = new Date(fixture.now().getTime() + hours72);
    const timestamp = fixture.now().toISOString();
    expect(await order(user)).toEqual({ message: 'REMOVAL_ORDERED', due_at: due.toISOString(), timestamp });
    expect(await stored(user)).toEqual({ id: expect.any(String), ordered_at: fixture.now(), due_at: due, by: 'mail' });
    expect(fixture.messages).toEqual([
      [[live._id], { topic, payload: { due_at: due.toISOString() }, at: fixture.now() }],
    ]);
    expect(fixture.audited.map(([event]) => event)).toEqual([
      { event: 'account.second_factor_removal_ordered', user_id: user._id },
    ]);
    expect([await purposes(), fixture.limitCalls, fixture.verdicts]).toEqual([
      ['second_factor_removal_ordered'],
      ['try'],
      [false, true],
    ]);
  });

  test('a repeated order to remove the second factor is mailed again, and not sent to the sessions again', async () => {
    const { removal, user } = await ordered(3_600_000);
    await fixture.session({ user_id: user._id });
    expect(await order(user)).toMatchObject({ due_at: removal.due_at.toISOString() });
    expect([await stored(user), fixture.messages, await purposes()]).toEqual([
      removal,
      [[[], expect.anything()]],
      ['second_factor_removal_ordered'],
    ]);
  });

  test('an order is refused and uses up no code if the factor is gone, or due, since the code was requested', async () => {
    const [off, { user: due }] = [await fixture.user(), await ordered(0)];
    for (const user of [off, due]) {
      const code = await fixture.challenge(user, purpose);
      await expect(createOrderFactorRemoval(fixture.deps)(code, fixture.origin)).rejects.toMatchObject(invalid);
      expect(await fixture.storedChallenge(code.challenge_id)).toMatchObject({ ended_at: null, tries_left: 5 });
    }
    expect(await fixture.rows()).toEqual([]);
  });
});

describe('a stop of the removal', () => {
  test('a stop by a session is mailed, audited, and sent to all sessions', async () => {
    const { user } = await ordered(1);
    const [own, other] = [await fixture.session({ user_id: user._id }), await fixture.session({ user_id: user._id })];
    const stopped = await createStopFactorRemoval(fixture.deps)(bearerOf(own), fixture.origin);
    expect(stopped).toEqual({ message: 'REMOVAL_STOPPED', timestamp: fixture.now().toISOString() });
    expect([await stored(user), await purposes()]).toEqual([undefined, ['second_factor_removal_stopped']]);
    expect((await fixture.rows()).map(({ topic }) => topic)).toEqual(['service.auth.events.notice']);
    const [to, content] = fixture.messages[0] ?? [];
    expect(to?.toSorted()).toEqual([own.document._id, other.document._id].toSorted());
    expect(content).toEqual({ topic, payload: { due_at: null }, at: fixture.now() });
    const session_id = own.document._id;
    expect(fixture.audited.map(([event]) => event)).toEqual([
      { event: 'account.second_factor_removal_stopped', user_id: user._id, session_id },
    ]);
  });

  test('a stop by an ended session is refused, and so is one by a token whose order has ended since the read', async () => {
    const { removal, user, token } = await ordered(1);
    const ended = await fixture.session({ user_id: user._id, is_revoked: true });
    const stop = createStopFactorRemoval(fixture.deps)(bearerOf(ended), fixture.origin);
    await expect(stop).rejects.toMatchObject({ code: 'IAD_JWT_ACCESS_INVALID' });
    const factorRemovals = { ...fixture.deps.factorRemovals, stop: async () => false };
    await expect(stopBy(token, { factorRemovals })).rejects.toMatchObject(invalid);
    expect([await stored(user), await fixture.rows()]).toEqual([removal, []]);
  });

  test('a stop by a token stops no other account’s order', async () => {
    const [other, own] = [await ordered(1), await ordered(1)];
    await stopBy(own.token);
    expect([await stored(other.user), await stored(own.user)]).toEqual([other.removal, undefined]);
  });

  test('parallel stops count as one', async () => {
    const { user, token } = await ordered(1);
    const sessions = await Promise.all([1, 2, 3].map(() => fixture.session({ user_id: user._id })));
    const commit = fixture.commitWith({ transaction: createTransactionRunner(fixture.mongo) });
    const stop = createStopFactorRemoval({ ...fixture.deps, commit });
    await Promise.all(sessions.map((session) => stop(bearerOf(session), fixture.origin)));
    await expect(stopBy(token)).rejects.toMatchObject(invalid);
    expect(await purposes()).toEqual(['second_factor_removal_stopped']);
  });

  test('a stop is refused once the removal is due', async () => {
    const { removal, user, token } = await ordered(0);
    const session = await fixture.session({ user_id: user._id });
    const late = createStopFactorRemoval(fixture.deps)(bearerOf(session), fixture.origin);
    await expect(late).rejects.toMatchObject({ code: 'ERR-CODE-EXPIRED' });
    await expect(stopBy(token)).rejects.toMatchObject({ code: 'ERR-CODE-EXPIRED' });
    expect([await stored(user), await fixture.rows()]).toEqual([removal, []]);
  });

  test.each(['another one', 'none', 'a due one'] as const)(
    'a stop that has read something out of date decides anew, and finds %s',
    async (what) => {
      const { user } = await ordered(1);
      const session = await fixture.session({ user_id: user._id });
      const other = { ...newRemoval(fixture.now(), 'mail'), ...(what === 'a due one' && { due_at: fixture.now() }) };
      const { removal: _, ...seen } = user.totp ?? {};
      let isFirst = true;
      const find = async (userId: string) => {
        if (!isFirst) return fixture.deps.users.find(userId);
        isFirst = false;
        if (what === 'none') return { ...user, totp: seen } as PresentUser;
        await fixture.collections.users.updateOne({ _id: user._id }, { $set: { 'totp.removal': other } });
        return user;
      };
      const stop = createStopFactorRemoval({ ...fixture.deps, users: { ...fixture.deps.users, find } });
      const answer = stop(bearerOf(session), fixture.origin);
      if (what === 'a due one') await expect(answer).rejects.toMatchObject({ code: 'ERR-CODE-EXPIRED' });
      else expect(await answer).toMatchObject({ message: 'REMOVAL_STOPPED' });
      expect(await stored(user)).toEqual(what === 'a due one' ? other : undefined);
    },
  );

  test('a stop by a token of a newer key waits for the key, if a removal has its id', async () => {
    const { removal } = await ordered(1);
    const newer = createRemovalStopTokens({ keys: [generateSecretKey()] });
    await expect(stopBy(newer.issue(removal.id))).rejects.toBeInstanceOf(MissingKeyError);
    await expect(stopBy(newer.issue(randomUUID()))).rejects.toMatchObject(invalid);
    let known = removalStopTokens;
    const arriving = {
      ...removalStopTokens,
      verify: (token: string) => known.verify(token),
      rereadKeys: async () => {
        known = newer;
      },
    };
    expect(await stopBy(newer.issue(removal.id), { removalStopTokens: arriving })).toMatchObject({
      message: 'REMOVAL_STOPPED',
    });
  });

  test('a genuine token of no order, or of an account that is due for erasure, stops nothing', async () => {
    const { user, token } = await ordered(1);
    await fixture.user();
    await fixture.collections.users.updateOne({ _id: user._id }, { $set: { deletes_at: fixture.now() } });
    for (const each of [token, removalStopTokens.issue(randomUUID()), 'x']) {
      await expect(stopBy(each)).rejects.toMatchObject(invalid);
    }
  });

  test('a stop by a session of a deleted account is refused', async () => {
    const session = await fixture.session();
    const stop = createStopFactorRemoval(fixture.deps)(bearerOf(session), fixture.origin);
    await expect(stop).rejects.toMatchObject({ code: 'IAD_JWT_ACCESS_INVALID' });
  });
});
