import { randomUUID } from 'node:crypto';
import { AppError } from '@auth-account/errors';
import type { SessionDocument } from '@auth-account/stores/documents';
import { createRefreshTokens, generateSecretKey, MissingKeyError } from '@auth-account/tokens';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { RequestAbandoned } from '../../../services/api/src/request/assert-client-connected.ts';
import { createRefresh, type RefreshDeps } from '../../../services/api/src/usecases/sessions/refresh.ts';
import { hashOf, openUseCaseFixture, readsOf, type UseCaseFixture } from '../../support/api/use-case-fixture.ts';

const minute = 60_000;
const idleSeconds = 7_200;
const retryWindowMs = 30_000;

let fixture: UseCaseFixture;
let limited: unknown[];
beforeAll(async () => {
  fixture = await openUseCaseFixture();
});
beforeEach(async () => {
  limited = [];
  await fixture.clear();
});
afterAll(() => fixture.close());

function refresh(token: string, deps: Partial<RefreshDeps> = {}, origin = fixture.origin) {
  const { sessions, refreshTokens, issueTokens, announce, isDenied, audit, now } = fixture;
  const limits = { refresh: async (from: unknown) => void limited.push(from) };
  const lifetime = { idleSeconds, absoluteSeconds: 86_400 };
  const own = { sessions, refreshTokens, issueTokens, announce, isDenied, audit, now, limits, lifetime, retryWindowMs };
  return createRefresh({ ...own, ...deps })({ refresh_token: token }, origin);
}

/** Fields of a session whose next token's hash is unknown, so that its refresh reads before it writes. */
const readFirst: Partial<SessionDocument> = { gen: 7, parent: 6, floor: 6 };

const idsOf = ({ _id, user_id }: SessionDocument) => ({ user_id, session_id: _id });
const refused = (code: string) => ({ code, name: 'AppError' });

describe('the newest refresh token', () => {
  test('the newest refresh token is rotated: the session has the next one, and its idle end moves', async () => {
    const { document, token } = await fixture.session();
    fixture.pass(minute);
    const answer = await refresh(token);
    const at = fixture.now();
    const next = answer.refresh_token;
    expect(await fixture.asStored(document._id)).toEqual({
      ...document,
      token: hashOf(next),
      gen: 2,
      parent: 1,
      floor: 1,
      handed_out_at: at,
      last_used_at: at,
      expires_at: new Date(at.getTime() + idleSeconds * 1_000),
    });
    expect(fixture.refreshTokens.parse(next)).toEqual({ kid: document.kid, sessionId: document._id, generation: 2 });
    expect(fixture.audited).toEqual([[{ event: 'refresh.rotated', ...idsOf(document) }, fixture.origin]]);
    expect(fixture.announced).toEqual([]);
    expect(limited).toEqual([fixture.origin]);
  });

  test('the answer to a refresh has all that an app needs', async () => {
    const { document, token } = await fixture.session();
    const { _id, user_id, device_id, claims } = document;
    const answer = await refresh(token);
    expect(answer).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 600,
      refresh_token: expect.any(String),
      refresh_expires_in: idleSeconds,
      user_id,
      home_group_id: claims.home_group_id,
      account_type: 'HOME',
      session_id: _id,
      device_id,
      push_stream_path: `/ws/push-stream/${_id}`,
      push_stream_url: `wss://push.example.com/ws/push-stream/${_id}`,
      timestamp: fixture.now().toISOString(),
    });
    const { home_group_id, account_type, ver } = claims;
    expect(decodeJwt(answer.access_token)).toMatchObject({
      user_id,
      home_group_id,
      account_type,
      ver,
      sid: _id,
      device_id,
    });
  });

  test('the answer to a refresh has the rest of the session in whole seconds, of which there is always one', async () => {
    const endingIn = async (ms: number) => {
      const absolute_expires_at = new Date(fixture.now().getTime() + ms);
      const { token } = await fixture.session({ absolute_expires_at });
      return (await refresh(token)).refresh_expires_in;
    };
    expect([await endingIn(5_999), await endingIn(400)]).toEqual([5, 1]);
  });

  test('a refresh gets the successor that another request has made between its read and its write', async () => {
    const { document, token } = await fixture.session(readFirst);
    const others: string[] = [];
    const rotate: RefreshDeps['sessions']['rotate'] = async (...call) => {
      if (others.length === 0) others.push((await refresh(token)).refresh_token);
      return fixture.sessions.rotate(...call);
    };
    const answer = await refresh(token, { sessions: { ...fixture.sessions, rotate } });
    expect([answer.refresh_token]).toEqual(others);
    expect(await fixture.asStored(document._id)).toMatchObject({ gen: 8, parent: 7 });
    expect(fixture.audited.map(([{ event }]) => event)).toEqual(['refresh.rotated', 'refresh.converged']);
  });
});

describe('a refresh token whose answer was lost', () => {
  test('a lost answer is given again within the window, once a majority has it, and nothing is written', async () => {
    const { document, token } = await fixture.session();
    const first = await refresh(token);
    const before = await fixture.asStored(document._id);
    fixture.audited.splice(0);
    fixture.pass(retryWindowMs);
    const { sessions, reads } = readsOf(fixture);
    const again = await refresh(token, { sessions });
    expect(again.refresh_token).toBe(first.refresh_token);
    expect(reads).toEqual(['find', 'confirmed']);
    expect(await fixture.asStored(document._id)).toEqual(before);
    expect(fixture.audited).toEqual([[{ event: 'refresh.converged', ...idsOf(document) }, fixture.origin]]);
  });
});

describe('refreshes that raise IAD_JWT_REFRESH_EXPIRED', () => {
  test('a refresh raises IAD_JWT_REFRESH_EXPIRED from the very moment at which the session ends', async () => {
    const { document, token } = await fixture.session({ expires_at: new Date(fixture.now().getTime() + minute) });
    fixture.pass(minute);
    await expect(refresh(token)).rejects.toMatchObject(refused('IAD_JWT_REFRESH_EXPIRED'));
    const event = { event: 'refresh.expired', ...idsOf(document), reason: 'expired' };
    expect(fixture.audited).toEqual([[event, fixture.origin]]);
    fixture.pass(-1);
    expect(await refresh(token)).toMatchObject({ session_id: document._id });
  });

  test.each<[string, () => Promise<string> | string]>([
    ['text', () => 'text'],
    [
      'a token of a session that is not there',
      async () => fixture.tokenOf({ ...(await fixture.session()).document, _id: randomUUID() }),
    ],
    [
      'a token made with another nonce',
      async () => {
        const [mine, other] = [await fixture.session(), await fixture.session()];
        return fixture.tokenOf({ ...mine.document, nonce: other.document.nonce });
      },
    ],
  ])('a refresh by %s raises IAD_JWT_REFRESH_EXPIRED, and is audited', async (_, token) => {
    await expect(refresh(await token())).rejects.toMatchObject(refused('IAD_JWT_REFRESH_EXPIRED'));
    const event = { event: 'refresh.expired', user_id: undefined, session_id: undefined, reason: 'not_genuine' };
    expect(fixture.audited).toEqual([[event, fixture.origin]]);
    expect(limited).toEqual([fixture.origin]);
  });
});

describe('refreshes that raise IAD_JWT_REFRESH_STOLEN', () => {
  test('a refresh of a revoked session raises IAD_JWT_REFRESH_STOLEN once a majority has that, and announces the end again', async () => {
    const revoked_at = new Date(fixture.now().getTime() - minute);
    const ended = { revoked_at, revoked_reason: 'logout', revoked_request_id: 'request-0' } as const;
    const { document, token } = await fixture.session({ is_revoked: true, expires_at: fixture.now(), ...ended });
    const { sessions, reads } = readsOf(fixture);
    await expect(refresh(token, { sessions })).rejects.toMatchObject(refused('IAD_JWT_REFRESH_STOLEN'));
    expect(reads).toEqual(['find', 'confirmed']);
    expect(fixture.audited).toEqual([[{ event: 'refresh.revoked', ...idsOf(document) }, fixture.origin]]);
    const announcement = { sessionIds: [document._id], reason: 'LOGOUT_CONFIRMED', requestId: 'request-0' };
    expect(fixture.announced).toEqual([{ ...announcement, at: revoked_at }]);
    expect(await fixture.asStored(document._id)).toEqual(document);
  });

  test.each([
    ['logout', { reason: 'logged_out' }],
    ['revoked_by_user', { reason: 'revoked' }],
    ['replaced', { reason: 'replaced' }],
    ['session_limit', { reason: 'session_limit' }],
    ['forced', { reason: 'forced' }],
    ['refresh_token_reuse', { reason: 'reused' }],
    ['reason_of_tomorrow' as 'forced', {}],
  ] as const)(
    'a refresh of a session that was revoked for %s raises IAD_JWT_REFRESH_STOLEN with %j',
    async (revoked_reason, details) => {
      const { token } = await fixture.session({ is_revoked: true, revoked_reason });
      const error = await refresh(token).catch((thrown: AppError) => thrown);
      expect(error).toMatchObject(refused('IAD_JWT_REFRESH_STOLEN'));
      expect((error as AppError).details).toStrictEqual(details);
      expect(fixture.audited.map(([{ event }]) => event)).toEqual(['refresh.revoked']);
    },
  );

  test('a refresh succeeds if the end of the session was rolled back after it was read', async () => {
    const { document, token } = await fixture.session(readFirst);
    const sessions = { ...fixture.sessions, find: async () => ({ ...document, is_revoked: true }) };
    expect(await refresh(token, { sessions })).toMatchObject({ session_id: document._id });
    expect(fixture.announced).toEqual([]);
  });

  const reused = () => fixture.session({ gen: 3, parent: 2, floor: 2 });

  test.each([
    ['that waits for the answer', {}],
    ['whose connection is open', { isAbandoned: () => false }],
  ])('a reused refresh token of a client %s ends the session, and all are notified', async (_, connection) => {
    const { document } = await reused();
    const origin = { ...fixture.origin, ...connection };
    await expect(refresh(fixture.tokenOf(document, 1), {}, origin)).rejects.toMatchObject({
      ...refused('IAD_JWT_REFRESH_STOLEN'),
      details: { reason: 'reused' },
    });
    const at = fixture.now();
    const ended = { revoked_at: at, revoked_reason: 'refresh_token_reuse', revoked_request_id: 'request-1' };
    expect(await fixture.asStored(document._id)).toEqual({ ...document, is_revoked: true, ...ended });
    expect(fixture.audited).toEqual([
      [{ event: 'refresh.stolen', ...idsOf(document) }, origin],
      [{ event: 'session.revoked', ...idsOf(document), reason: 'refresh_token_reuse' }, origin],
    ]);
    const announcement = { sessionIds: [document._id], reason: 'SESSION_REVOKED', requestId: 'request-1', at };
    expect(fixture.announced).toEqual([announcement]);
  });

  test('a reused refresh token of a client that has disconnected ends nothing, and is audited', async () => {
    const { document } = await reused();
    const origin = { ...fixture.origin, isAbandoned: () => true };
    await expect(refresh(fixture.tokenOf(document, 1), {}, origin)).rejects.toThrow(RequestAbandoned);
    expect(await fixture.asStored(document._id)).toEqual(document);
    expect(fixture.audited).toEqual([[{ event: 'refresh.abandoned', ...idsOf(document) }, origin]]);
    expect(fixture.announced).toEqual([]);
  });
});

describe('a session whose newest refresh token is of an unknown key', () => {
  const newKey = generateSecretKey();

  test.each([
    ['just now', 0],
    ['five minutes ago', 5 * minute],
  ])('a refresh has to be retried if an unknown key made the session’s newest token %s', async (_, ago) => {
    const { document, token } = await fixture.session();
    const handed_out_at = new Date(fixture.now().getTime() - ago);
    const changed = { kid: newKey.kid, token: 'hash of its token', handed_out_at };
    await fixture.collections.sessions.updateOne({ _id: document._id }, { $set: changed });
    await expect(refresh(token)).rejects.toMatchObject({ name: 'MissingKeyError', kid: newKey.kid, kind: 'refresh' });
    expect(fixture.audited).toEqual([]);
  });

  test('a refresh is judged by the present keys if an unknown key made the newest token over five minutes ago', async () => {
    const handed_out_at = new Date(fixture.now().getTime() - 5 * minute - 1);
    const { document } = await fixture.session({ kid: newKey.kid, handed_out_at });
    const elder = fixture.tokenOf({ ...document, kid: fixture.refreshTokens.currentKid });
    expect(await refresh(elder)).toMatchObject({ session_id: document._id });
  });

  test('a refresh succeeds if a read of the key file finds its key, and a known key costs no read', async () => {
    const { document, token } = await fixture.session();
    let looks = 0;
    const set = (...keys: [typeof newKey, ...(typeof newKey)[]]) => ({ keys });
    let current = set(generateSecretKey());
    const refreshTokens = createRefreshTokens({
      current: () => current,
      async reread() {
        looks += 1;
        current = set(newKey, ...current.keys);
      },
    });
    const sessionId = document._id;
    const nonce = Buffer.from(document.nonce.value());
    const made = createRefreshTokens({ keys: [newKey] }).issue({ kid: newKey.kid, sessionId, generation: 1 }, nonce);
    await fixture.collections.sessions.updateOne({ _id: sessionId }, { $set: { kid: newKey.kid } });
    const { issueTokens } = fixture;
    const next = await refresh(made, {
      refreshTokens,
      issueTokens: (session) => issueTokens({ ...session, kid: fixture.refreshTokens.currentKid }),
    });
    expect(next).toMatchObject({ session_id: sessionId });
    expect(looks).toBe(1);
    await expect(refresh(token)).rejects.toBeInstanceOf(MissingKeyError);
    const child = createRefreshTokens({ keys: [newKey] }).issue({ kid: newKey.kid, sessionId, generation: 2 }, nonce);
    await refresh(child, {
      refreshTokens,
      issueTokens: (session) => issueTokens({ ...session, kid: fixture.refreshTokens.currentKid }),
    });
    expect(looks).toBe(1);
  });
});

test('a client over the limit of refreshes is refused before anything is read', async () => {
  const { document, token } = await fixture.session();
  const limits = { refresh: () => Promise.reject(new AppError('ERR-RATE-LIMITED')) };
  await expect(refresh(token, { limits })).rejects.toMatchObject(refused('ERR-RATE-LIMITED'));
  expect(await fixture.asStored(document._id)).toEqual(document);
  expect(fixture.audited).toEqual([]);
});
