import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { logIn, newSession, type TokenPair } from '../support/api/accounts.ts';
import { bearer } from '../support/api/api-driver.ts';
import {
  accept,
  currentGroup,
  expectSound,
  handOver,
  insertInvite,
  joinByInvite,
  leave,
  refresh,
  removeMember,
} from '../support/api/groups.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import type { Answer } from '../support/http-client.ts';
import { uniqueName } from '../support/test-environment.ts';

/** An api that allows each account three moves. */
let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ MOVE_LIMIT_PER_USER: '3' });
});
afterAll(() => api.close());

type Move = (caller: TokenPair) => Promise<Answer>;

/** Makes the moves one after the other, and refreshes after each. Returns the status codes, and the last tokens. */
async function makeMoves(first: TokenPair, moves: readonly Move[]): Promise<{ statuses: number[]; tokens: TokenPair }> {
  const statuses: number[] = [];
  let tokens = first;
  for (const move of moves) {
    statuses.push((await move(tokens)).status);
    tokens = await refresh(api, tokens);
  }
  return { statuses, tokens };
}

const goHome: Move = (caller) => leave(api, caller);
const newInvite = async () => insertInvite(api, (await newSession(api)).home_group_id);
const goAbroad: Move = async (caller) => accept(api, caller, await newInvite());

describe('the moves of an account', () => {
  // guarantees: move-limit
  test('moves past the limit answer 429 with Retry-After, however they are made, and change nothing', async () => {
    const mover = await newSession(api);
    const removeOneself: Move = (caller) => removeMember(api, caller, mover.user_id);
    const { statuses, tokens } = await makeMoves(mover, [goAbroad, goHome, removeOneself]);
    expect(statuses).toEqual([200, 200, 200]);
    const invite = await newInvite();
    const goThere: Move = (caller) => accept(api, caller, invite);
    const groups = await api.collections.groups.countDocuments();
    for (const move of [goHome, removeOneself, goThere]) {
      const answer = await move(tokens);
      expect([answer.status, answer.json.error_code]).toEqual([429, 'ERR-RATE-LIMITED']);
      const wait = Number(answer.headers['retry-after']);
      expect([wait >= 1, wait <= 3_600]).toEqual([true, true]);
    }
    expect(await api.collections.groups.countDocuments()).toBe(groups);
    expect(await api.collections.invites.findOne({ _id: invite })).toMatchObject({ uses: 0 });
    expect((await currentGroup(api, tokens)).status).toBe(200);
    expect(await api.metric('auth_rate_limited_total', { rule: 'move_account' })).toBe(3);
  });

  test('moves do not count for anybody else, and not for the owner who removes others', async () => {
    const owner = await newSession(api);
    for (let i = 0; i < 4; i += 1) {
      const { user_id } = await joinByInvite(api, await insertInvite(api, owner.home_group_id));
      expect((await removeMember(api, owner, user_id)).status).toBe(200);
    }
    expect((await makeMoves(owner, [goHome, goHome, goHome, goHome])).statuses).toEqual([200, 200, 200, 429]);
    expect((await goHome(await newSession(api))).status).toBe(200);
  });

  test('a move counts if it is made, and not if its invite or the app’s question refuses it', async () => {
    const mover = await newSession(api);
    const expired = { expires_at: new Date(Date.now() - 1_000) };
    const elsewhere = (await newSession(api)).home_group_id;
    const refusals: [number, string, object?][] = [
      [404, randomUUID()],
      [400, await insertInvite(api, mover.home_group_id)],
      [400, await newInvite(), {}],
      [410, await insertInvite(api, elsewhere, expired)],
      [410, await insertInvite(api, elsewhere, { revoked_at: new Date() })],
      [410, await insertInvite(api, elsewhere, { max_uses: 1, uses: 1 })],
    ];
    for (const [status, invite, body] of refusals) expect((await accept(api, mover, invite, body)).status).toBe(status);
    expect((await makeMoves(mover, [goAbroad, goAbroad, goAbroad, goAbroad])).statuses).toEqual([200, 200, 200, 429]);
    await expectSound(api);
  });
});

describe('the writes of a session', () => {
  let limited: TestApi;
  beforeAll(async () => {
    limited = await api.beside({ WRITE_LIMIT_PER_SESSION: '3', KEY_PREFIX: uniqueName() });
  });

  const change = (caller: TokenPair) => limited.changeAccount({ locale: 'ru' }, bearer(caller));
  const endOthers = (caller: TokenPair) => limited.logOutAll({ except_current: true }, bearer(caller));
  /** Writes that a session could repeat without end if this limit did not exist. */
  const writes: Readonly<Record<string, (caller: TokenPair) => Promise<Answer>>> = {
    'logout-all': endOthers,
    'PATCH account': change,
    'PATCH groups/current': (caller) => limited.renameGroup({ name: 'Den' }, bearer(caller)),
    'POST groups/current/owner': (caller) => handOver(limited, caller, crypto.randomUUID()),
    'DELETE members': (caller) => removeMember(limited, caller, crypto.randomUUID()),
    'DELETE sessions': (caller) => limited.revokeSession({ session_id: crypto.randomUUID() }, bearer(caller)),
  };

  test.each(Object.entries(writes))(
    'a session has three writes a minute, of all kinds together: %s',
    async (_, write) => {
      const session = await newSession(limited);
      for (let i = 0; i < 3; i += 1) expect((await change(session)).status).toBe(200);
      const answer = await write(session);
      expect([answer.status, answer.json.error_code]).toEqual([429, 'ERR-RATE-LIMITED']);
      const wait = Number(answer.headers['retry-after']);
      expect([wait >= 1, wait <= 60]).toEqual([true, true]);
    },
  );

  // guarantees: session-in-a-loop
  test('the writes of a session do not count for another session of the account: a thief uses up their own', async () => {
    const thief = await newSession(limited);
    const statuses: number[] = [];
    while (statuses.length < 4) statuses.push((await change(thief)).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    const owner = await logIn(limited, thief.email);
    expect((await change(owner)).status).toBe(200);
    expect((await endOthers(owner)).json.data.terminated_sessions).toBe(1);
    expect(await limited.metric('auth_rate_limited_total', { rule: 'write_session' })).toBeGreaterThan(0);
  });
});
