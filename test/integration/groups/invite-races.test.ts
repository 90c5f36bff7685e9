import { waitUntil } from '@auth-account/local-stack';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { logIn, newEmail, newSession, password, type TokenPair } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { confirmReset, requestReset } from '../../support/api/codes.ts';
import { accept, expectSound, joinByInvite, leave, refresh, removeMember } from '../../support/api/groups.ts';
import { joinBy, newInvite } from '../../support/api/invites.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';
import type { Answer } from '../../support/http-client.ts';
import { type HoldingProxy, startHoldingProxy } from '../../support/stores/holding-proxy.ts';
import { mongodbAt, testEnvironment } from '../../support/test-environment.ts';

const daySeconds = 86_400;

let api: TestApi;
/** Another pod, whose answers from MongoDB can be held back, and whose clock can be moved forward. */
let held: TestApi;
let proxy: HoldingProxy;
let ahead = 0;

beforeAll(async () => {
  proxy = await startHoldingProxy(Number(new URL(testEnvironment().mongodbUri).port));
  api = await startTestApi();
  const uri = mongodbAt(Number(new URL(proxy.url).port));
  held = await api.beside({ MONGODB_URI: uri }, { now: () => Date.now() + ahead });
});
afterEach(() => expectSound(api));
afterAll(async () => {
  await held.close();
  await api.close();
  await proxy.close();
});

const create = (by: TokenPair, on = api, headers = {}) => on.createInvite({}, { ...bearer(by), ...headers });
const revoke = (token: string, by: TokenPair) => api.revokeInvite({ token }, bearer(by));
/** The other request may come before the second try of the creation. */
async function expectNoGoodInvite({ status }: Answer, { home_group_id }: Pick<TokenPair, 'home_group_id'>) {
  expect([201, 401]).toContain(status);
  const invites = await api.collections.invites.find({ home_group_id }).toArray();
  expect(invites.map(({ revoked_at }) => revoked_at === null)).toEqual(status === 201 ? [false] : []);
}

const stored = (token: string) => api.collections.invites.findOne({ _id: token });
const countOf = (answers: readonly Answer[], status: number) => answers.filter((each) => each.status === status).length;

async function newOffice(): Promise<TokenPair> {
  const email = newEmail();
  await api.registerAccount({ email, password, space_creation_mode: 'CREATE_NEW_OFFICE' });
  return logIn(api, email);
}

/**
 * Returns the held pod's answer. `meanwhile` runs after the pod has sent `text` to MongoDB, and before it gets a reply.
 */
async function heldAt(text: string, work: () => Promise<Answer>, meanwhile: () => Promise<void>): Promise<Answer> {
  proxy.hold(text);
  try {
    const answer = work();
    await waitUntil(async () => proxy.held() > 0, { what: `${text} to be held`, timeoutMs: 60_000, intervalMs: 5 });
    await meanwhile();
    proxy.release();
    return await answer;
  } finally {
    proxy.release();
  }
}

/** Waits until the other pod has tried a transaction again. */
async function transactionRetried(before: number): Promise<void> {
  const retries = () => api.metric('auth_transaction_retries_total');
  const retried = async () => (await retries()) > before;
  await waitUntil(retried, { what: 'a transaction to be tried again', timeoutMs: 60_000, intervalMs: 5 });
}

describe('a revocation of an invite', () => {
  // guarantees: revoked-invite
  test('a revocation in the middle of many joins on two pods counts none after its answer, and loses none', async () => {
    const owner = await newSession(api);
    const movers = await Promise.all(Array.from({ length: 4 }, () => newSession(api)));
    const token = await newInvite(api, owner);
    let joined = 0;
    const counted = async (answer: Promise<Answer>) => {
      const { status } = await answer;
      if (status < 300) joined += 1;
      return answer;
    };
    const joins = [
      ...Array.from({ length: 20 }, (_, i) => counted(joinBy(i % 2 ? held : api, token))),
      ...movers.map((mover) => counted(accept(api, mover, token))),
    ];
    await waitUntil(async () => joined >= 3, { what: 'three joins', timeoutMs: 60_000, intervalMs: 1 });
    const revoked = await revoke(token, owner);
    const usesThen = (await stored(token))?.uses ?? 0;
    const answers = await Promise.all(joins);
    const late = [await joinBy(api, token), await joinBy(held, token)];
    expect(revoked.status).toBe(200);
    expect(late.map(({ status }) => status)).toEqual([410, 410]);
    // All joins that got 2xx were decided before the revocation was answered.
    expect((await stored(token))?.uses).toBe(usesThen);
    expect(countOf(answers, 201) + countOf(answers, 200)).toBe(usesThen);
    expect(countOf(answers, 410)).toBe(answers.length - usesThen);
    const home_group_id = owner.home_group_id;
    expect(await api.collections.users.countDocuments({ home_group_id })).toBe(usesThen + 1);
  });

  test('a revocation between a registration’s check and its commit is seen', async () => {
    const owner = await newSession(api);
    const token = await newInvite(api, owner);
    const email = newEmail();
    // The transaction already has its snapshot, in which the invite is valid.
    const answer = await heldAt(
      'password_hash',
      () => joinBy(held, token, email),
      async () => {
        expect((await revoke(token, owner)).status).toBe(200);
      },
    );
    expect([answer.status, answer.json.error_code]).toEqual([410, 'ERR-INVITE-TOKEN-INVALID']);
    expect(await stored(token)).toMatchObject({ uses: 0 });
    expect(await api.collections.users.countDocuments({ email })).toBe(0);
  });

  test('a revocation between an acceptance’s check and its commit is seen', async () => {
    const [owner, mover] = [await newSession(api), await newSession(api)];
    const token = await newInvite(api, owner);
    const answer = await heldAt(
      'invites',
      () => accept(held, mover, token),
      async () => {
        expect((await revoke(token, owner)).status).toBe(200);
      },
    );
    expect([answer.status, answer.json.error_code]).toEqual([410, 'ERR-INVITE-TOKEN-INVALID']);
    expect(await stored(token)).toMatchObject({ uses: 0 });
    expect(await api.collections.users.findOne({ _id: mover.user_id })).toMatchObject({
      home_group_id: mover.home_group_id,
    });
  });

  test('a revocation waits for a join that has used the invite and is not committed', async () => {
    const owner = await newSession(api);
    const token = await newInvite(api, owner);
    let revoked: Promise<Answer> | undefined;
    const joined = await heldAt(
      'findandmodify',
      () => joinBy(held, token),
      async () => {
        const before = await api.metric('auth_transaction_retries_total');
        revoked = revoke(token, owner);
        await transactionRetried(before);
      },
    );
    expect(joined.status).toBe(201);
    expect((await revoked)?.json.data).toMatchObject({ reason: 'revoked', uses: 1 });
  });
});

// guarantees: removed-member-stays-out
test('an invite ends with the member whom it brought, though somebody else joins by it at the same moment', async () => {
  const owner = await newSession(api);
  const token = await newInvite(api, owner);
  const member = await joinByInvite(api, token);
  let removed: Promise<Answer> | undefined;
  const joined = await heldAt(
    'findandmodify',
    () => joinBy(held, token),
    async () => {
      const before = await api.metric('auth_transaction_retries_total');
      removed = removeMember(api, owner, member.user_id);
      await transactionRetried(before);
    },
  );
  const { status, json } = (await removed) ?? joined;
  // Whichever request is first, the other has conflicted, and sees its effect.
  expect([201, 410]).toContain(joined.status);
  expect([status, json.data.invites_revoked]).toEqual([200, 1]);
  const uses = joined.status === 201 ? 2 : 1;
  expect(await stored(token)).toMatchObject({ uses, revoked_at: expect.any(Date) });
  const back = await refresh(api, member);
  const answers = await Promise.all([accept(api, back, token), accept(held, back, token)]);
  expect(answers.map(({ status }) => status)).toEqual([410, 410]);
});

test('an invite that expires between a registration’s check and its commit is 410, as expired', async () => {
  const owner = await newSession(api);
  const token = await newInvite(api, owner);
  const answer = await heldAt(
    'password_hash',
    () => joinBy(held, token),
    async () => {
      ahead = 8 * daySeconds * 1_000;
    },
  );
  ahead = 0;
  expect([answer.status, answer.headers['x-error-code']]).toEqual([410, 'IAD_GROUP_INVITE_EXPIRED']);
  expect(await stored(token)).toMatchObject({ uses: 0 });
});

describe('the creation of an invite', () => {
  test('no invite is created in a group that is being closed', async () => {
    const owner = await newOffice();
    // The held pod's transaction already has its snapshot, in which the group is open.
    const answer = await heldAt(
      'fingerprint',
      () => create(owner, held, { 'Idempotency-Key': 'while-closing' }),
      async () => {
        expect((await leave(api, owner)).status).toBe(200);
      },
    );
    expect([answer.status, answer.json.error_code]).toEqual([401, 'IAD_JWT_ACCESS_INVALID']);
    expect(await api.collections.invites.countDocuments({ home_group_id: owner.home_group_id })).toBe(0);
  });

  test('an invite that is created before the group closes ends with it', async () => {
    const owner = await newOffice();
    let left: Promise<Answer> | undefined;
    const answer = await heldAt(
      'invites_made',
      () => create(owner, held),
      async () => {
        const before = await api.metric('auth_transaction_retries_total');
        left = leave(api, owner);
        await transactionRetried(before);
      },
    );
    expect((await left)?.status).toBe(200);
    await expectNoGoodInvite(answer, owner);
  });

  test('an invite that is created before its maker’s account is taken back by a reset ends with that', async () => {
    const squatter = await newSession(api);
    const asked = await requestReset(api, squatter.email);
    let reset: Promise<Answer> | undefined;
    const answer = await heldAt(
      'invites_made',
      () => create(squatter, held),
      async () => {
        const before = await api.metric('auth_transaction_retries_total');
        reset = confirmReset(api, asked);
        await transactionRetried(before);
      },
    );
    const { status, json } = (await reset) ?? answer;
    expect([status, json.data.invites_revoked]).toEqual([200, answer.status === 201 ? 1 : 0]);
    await expectNoGoodInvite(answer, squatter);
  });

  // guarantees: recovery-ends-invites
  test.each([
    ['', false],
    [' and has moved before', true],
  ])('no invite is created after its maker’s account was taken back%s at the same moment', async (_, hasMoved) => {
    const thief = await newSession(api);
    const asked = await requestReset(api, thief.email);
    // The session was live when the request came, and the transaction already has its snapshot.
    const answer = await heldAt(
      'fingerprint',
      () => create(thief, held, { 'Idempotency-Key': `while-reset-${hasMoved}` }),
      async () => {
        if (hasMoved) expect((await leave(api, thief)).status).toBe(200);
        expect((await confirmReset(api, asked)).status).toBe(200);
      },
    );
    expect([answer.status, answer.json.error_code]).toEqual([401, 'IAD_JWT_ACCESS_INVALID']);
    expect(await api.collections.invites.countDocuments({ home_group_id: thief.home_group_id })).toBe(0);
  });

  test('no invite is created by somebody who stops being the owner at the same moment', async () => {
    const owner = await newOffice();
    const heir = await joinByInvite(api, await newInvite(api, owner, { max_uses: 1 }));
    const answer = await heldAt(
      'fingerprint',
      () => create(owner, held, { 'Idempotency-Key': 'while-leaving' }),
      async () => {
        expect((await leave(api, owner)).status).toBe(200);
      },
    );
    expect([answer.status, answer.json.error_code]).toEqual([401, 'IAD_JWT_ACCESS_INVALID']);
    expect((await create(heir)).status).toBe(201);
  });

  // guarantees: group-owner-and-invites
  test('twelve simultaneous requests for the last 3 invites of a group create 3', async () => {
    const owner = await newSession(api);
    const invite = await stored(await newInvite(api, owner));
    if (invite === null) throw new Error('no invite');
    const others = Array.from({ length: 96 }, () => ({ ...invite, _id: crypto.randomUUID() }));
    await api.collections.invites.insertMany(others);
    const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => create(owner, i % 2 ? held : api)));
    expect([countOf(answers, 201), countOf(answers, 409)]).toEqual([3, 9]);
    const { home_group_id } = owner;
    expect(await api.collections.invites.countDocuments({ home_group_id })).toBe(100);
    expect(await api.collections.groups.findOne({ _id: home_group_id })).toMatchObject({ invites_made: 4 });
  });
});
