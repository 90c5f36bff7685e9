import { randomUUID } from 'node:crypto';
import type { UserDocument } from '@auth-account/stores/documents';
import { createSealedSecrets, generateSecretKey, type SealedSecrets } from '@auth-account/tokens';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Binary } from 'mongodb';
import { newTotpSeed } from '../../../services/api/src/security/totp.ts';
import { createResealSeeds } from '../../../services/worker/src/second-factor/reseal-seeds.ts';
import { type AccountFixture, openAccountFixture } from '../../support/api/account-fixture.ts';

let fixture: AccountFixture;
let reported: unknown[];
beforeAll(async () => {
  fixture = await openAccountFixture();
});
beforeEach(async () => {
  reported = [];
  await Promise.all([fixture.clear(), fixture.collections.providerRevocations.deleteMany()]);
});
afterAll(() => fixture.close());

const [older, newer, gone] = [generateSecretKey(), generateSecretKey(), generateSecretKey()];
const before = createSealedSecrets({ keys: [older] });
const after = createSealedSecrets({ keys: [newer, older] });
const alone = createSealedSecrets({ keys: [newer] });
const minute = (minutes: number) => new Date(fixture.now().getTime() + minutes * 60_000);

const round = (sealedSecrets = after) =>
  createResealSeeds({
    ...fixture.deps,
    sealedSecrets,
    onResealed: (count) => void reported.push(count),
    onFailed: (userId) => void reported.push(userId),
    now: fixture.now,
  })();

/** Stores an account with an authenticator app whose seed these secrets seal. */
async function guarded(by: SealedSecrets) {
  const [_id, factor_id, seed] = [randomUUID(), randomUUID(), newTotpSeed()];
  const { kid, box } = by.seal(seed, { userId: _id, factorId: factor_id });
  const totp = { factor_id, kid, seed: new Binary(box), confirmed_at: minute(0), last_step: 7 };
  return { seed, user: await fixture.user({ _id, totp, recovery_codes: ['hash'] }) };
}

async function openedBy(secrets: SealedSecrets, { _id }: UserDocument): Promise<Buffer> {
  const totp = (await fixture.storedUser(_id))?.totp;
  if (totp === undefined) throw new Error('there is no seed');
  const { kid, seed, factor_id } = totp;
  return secrets.open({ kid, box: Buffer.from(seed.value()) }, { userId: _id, factorId: factor_id });
}

test('a round seals every seed under the newest key, and changes nothing else', async () => {
  const accounts = await Promise.all(Array.from({ length: 102 }, () => guarded(before)));
  await round();
  expect(reported).toEqual([102]);
  for (const { user, seed } of accounts) {
    expect(await openedBy(alone, user)).toEqual(seed);
    const { totp, ...rest } = (await fixture.storedUser(user._id)) ?? {};
    const { totp: old, ...same } = user;
    expect(rest).toEqual(same);
    expect(totp).toEqual({ ...old, kid: newer.kid, seed: totp?.seed });
  }
  await round();
  expect(reported).toEqual([102]);
});

test('a round leaves seeds under the newest key, and accounts without a seed, as they are', async () => {
  const [{ user }, plain] = [await guarded(after), await fixture.user()];
  await round();
  expect([await fixture.storedUser(user._id), await fixture.storedUser(plain._id)]).toEqual([user, plain]);
  expect(reported).toEqual([]);
});

test('two workers with the key files before and after a rotation do not seal the same seed in turns', async () => {
  const published = { ...newer, published_at: fixture.now().toISOString() };
  const former = createSealedSecrets({ keys: [older, published] });
  const latter = createSealedSecrets({ keys: [published, { ...older, retired_at: fixture.now().toISOString() }] });
  const { user } = await guarded(before);
  const kidOf = async () => (await fixture.storedUser(user._id))?.totp?.kid;
  await round(former);
  expect(await kidOf()).toBe(older.kid);
  for (const each of [latter, former, latter]) await round(each);
  expect([await kidOf(), reported]).toEqual([newer.kid, [1]]);
});

test('a round goes on past a seed whose key is gone, and leaves it as it is', async () => {
  const lost = await Promise.all(Array.from({ length: 101 }, () => guarded(createSealedSecrets({ keys: [gone] }))));
  const { user, seed } = await guarded(before);
  await round();
  expect(await openedBy(alone, user)).toEqual(seed);
  const ids = lost.map((each) => each.user._id);
  expect([reported.toSorted(), reported.includes(1)]).toEqual([[1, ...ids].toSorted(), true]);
  const [first] = lost;
  expect(await fixture.storedUser(first?.user._id ?? '')).toEqual(first?.user);
});

/** Returns the parts of a provider's token that these secrets seal. */
function tokenOf(user_id: string, id: string, by: SealedSecrets) {
  const [provider, created_at] = ['office', fixture.now()];
  const { kid, box } = by.seal(Buffer.from(`token of ${id}`), { userId: user_id, factorId: id });
  const sealed = { kid, token: new Binary(box), client_id: 'app' };
  const identity = { id, provider, sub: id, created_at, refresh_token: sealed };
  const waiting = { _id: id, user_id, provider, created_at, due_at: created_at, attempts: 0, ...sealed };
  return { identity, waiting };
}

test('a round ends, and goes on past tokens whose key is gone, however many an account has', async () => {
  const [user_id, lost] = [randomUUID(), createSealedSecrets({ keys: [gone] })];
  const secrets = [...Array.from({ length: 101 }, () => lost), before];
  const [linked, unlinked] = [1, 2].map(() => secrets.map((by) => tokenOf(user_id, randomUUID(), by)));
  await fixture.user({ _id: user_id, identities: linked?.map(({ identity }) => identity) ?? [] });
  await fixture.collections.providerRevocations.insertMany(unlinked?.map(({ waiting }) => waiting) ?? []);
  await round();
  expect(reported).toEqual([...Array(202).fill(user_id), 2]);
});

test('a round seals providers’ tokens too, of identities and of those that are gone', async () => {
  const [user_id, ids] = [randomUUID(), [randomUUID(), randomUUID(), randomUUID()] as const];
  const identities = [tokenOf(user_id, ids[0], before), tokenOf(user_id, ids[1], after)];
  await fixture.user({ _id: user_id, identities: identities.map(({ identity }) => identity) });
  await fixture.collections.providerRevocations.insertOne(tokenOf(user_id, ids[2], before).waiting);
  await round();
  expect(reported).toEqual([2]);
  const stored = (await fixture.storedUser(user_id))?.identities ?? [];
  const gone = await fixture.collections.providerRevocations.findOne({ _id: ids[2] });
  const tokens = [...stored.map(({ id, refresh_token }) => [id, refresh_token] as const), [ids[2], gone] as const];
  const opened = tokens.map(([id, sealed]) => {
    if (!sealed) throw new Error('there is no token');
    const box = Buffer.from(sealed.token.value());
    return alone.open({ kid: sealed.kid, box }, { userId: user_id, factorId: id }).toString();
  });
  expect(opened).toEqual(ids.map((id) => `token of ${id}`));
});

test('a round removes authenticator apps that were not confirmed in time', async () => {
  const pending = (until: Date) => ({
    pending_totp: { factor_id: randomUUID(), kid: older.kid, seed: new Binary(Buffer.alloc(48)), until, version: 'v' },
  });
  const [lapsed, open] = [await fixture.user(pending(minute(0))), await fixture.user(pending(minute(1)))];
  await round();
  expect(await fixture.storedUser(lapsed._id)).not.toHaveProperty('pending_totp');
  expect(await fixture.storedUser(open._id)).toEqual(open);
});
