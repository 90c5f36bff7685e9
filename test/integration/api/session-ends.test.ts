import { randomUUID } from 'node:crypto';
import type { SessionDocument } from '@auth-account/stores/documents';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { RequestAbandoned } from '../../../services/api/src/request/assert-client-connected.ts';
import { createEndSessions } from '../../../services/api/src/usecases/sessions/end-sessions.ts';
import { createListSessions } from '../../../services/api/src/usecases/sessions/list-sessions.ts';
import { createLogOut } from '../../../services/api/src/usecases/sessions/log-out.ts';
import { createLogOutAll } from '../../../services/api/src/usecases/sessions/log-out-all.ts';
import { createRevokeSession } from '../../../services/api/src/usecases/sessions/revoke-session.ts';
import {
  bearerOf,
  openUseCaseFixture,
  type StoredSession,
  type UseCaseFixture,
} from '../../support/api/use-case-fixture.ts';

let fixture: UseCaseFixture;
beforeAll(async () => {
  fixture = await openUseCaseFixture();
});
beforeEach(() => fixture.clear());
afterAll(() => fixture.close());

const ended = (reason: string, also: object = {}) => ({
  is_revoked: true,
  revoked_at: fixture.now(),
  revoked_reason: reason,
  revoked_request_id: 'request-1',
  ...also,
});
const announcement = (sessionIds: string[], reason: string, also: object = {}) => {
  return { sessionIds, reason, requestId: 'request-1', at: fixture.now(), ...also };
};
const notFound = { code: 'ERR-LOGOUT-TARGET-NOT-FOUND', name: 'AppError' };

async function expectUntouched(...documents: SessionDocument[]): Promise<void> {
  for (const document of documents) expect(await fixture.asStored(document._id)).toEqual(document);
  expect(fixture.audited).toEqual([]);
  expect(fixture.announced).toEqual([]);
}

describe('a logout', () => {
  let reads: number;
  const logOut = (refresh_token: string, caller: VerifiedAccessToken) => {
    reads = 0;
    const { refreshTokens, announce, isDenied, audit, now } = fixture;
    const find = (id: string) => fixture.sessions.find(id).finally(() => (reads += 1));
    const sessions = { ...fixture.sessions, find };
    return createLogOut({ sessions, refreshTokens, announce, isDenied, audit, now })(
      { refresh_token },
      caller,
      fixture.origin,
    );
  };

  test('a logout by the newest token ends the session without reading it, and announces that', async () => {
    const own = await fixture.session();
    const { _id: session_id, user_id } = own.document;
    expect(await logOut(own.token, bearerOf(own))).toEqual({
      message: 'SESSION_TERMINATED',
      details: 'The refresh token has been revoked and the push WebSocket of this device has been closed.',
      timestamp: fixture.now().toISOString(),
    });
    expect(reads).toBe(0);
    expect(await fixture.asStored(session_id)).toEqual({ ...own.document, ...ended('logout') });
    expect(fixture.audited).toEqual([[{ event: 'logout.succeeded', user_id, session_id }, fixture.origin]]);
    expect(fixture.announced).toEqual([announcement([session_id], 'LOGOUT_CONFIRMED')]);
  });

  test('a logout by any other genuine token of the session ends it too', async () => {
    const own = await fixture.session({ gen: 5 });
    await logOut(fixture.tokenOf(own.document, 2), bearerOf(own));
    expect(await fixture.asStored(own.document._id)).toMatchObject(ended('logout'));
  });

  test('a logout of another session of the caller’s closes the stream of this one as well', async () => {
    const phone = await fixture.session();
    const tablet = await fixture.session({ user_id: phone.document.user_id });
    await logOut(tablet.token, bearerOf(phone));
    const also = { revoked_also_close: phone.document._id };
    expect(await fixture.asStored(tablet.document._id)).toEqual({ ...tablet.document, ...ended('logout', also) });
    expect(await fixture.asStored(phone.document._id)).toEqual(phone.document);
    const alsoClose = { alsoClose: phone.document._id };
    expect(fixture.announced).toEqual([announcement([tablet.document._id], 'LOGOUT_CONFIRMED', alsoClose)]);
  });

  test.each<[string, (own: StoredSession) => Promise<string> | string]>([
    ['text', () => 'text'],
    ['a token of no session', ({ document }) => fixture.tokenOf({ ...document, _id: randomUUID() })],
    [
      'a token made with another nonce',
      async ({ document }) => fixture.tokenOf({ ...document, nonce: (await fixture.session()).document.nonce }),
    ],
    ['another user’s token', async () => (await fixture.session()).token],
    ['another user’s older token', async () => fixture.tokenOf((await fixture.session({ gen: 2 })).document, 1)],
  ])('a logout by %s ends nothing', async (_, token) => {
    const own = await fixture.session();
    await expect(logOut(await token(own), bearerOf(own))).rejects.toMatchObject(notFound);
    await expectUntouched(...(await fixture.collections.sessions.find({ is_revoked: true }).toArray()), own.document);
    expect(await fixture.collections.sessions.countDocuments({ is_revoked: true })).toBe(0);
  });
});

describe('the end of a session by its id', () => {
  const revoke = (id: string, caller: VerifiedAccessToken) => {
    const endSessions = createEndSessions(fixture);
    return createRevokeSession({ ...fixture, endSessions })(id, caller, fixture.origin);
  };

  test.each([
    ['the caller’s own session', 'logout', 'LOGOUT_CONFIRMED', true],
    ['another session of the caller’s', 'revoked_by_user', 'SESSION_REVOKED', false],
  ])('an end by id of %s is stored as %s, and announced as %s', async (_, reason, announcedReason, isOwn) => {
    const caller = await fixture.session();
    const { user_id } = caller.document;
    const { document } = isOwn ? caller : await fixture.session({ user_id });
    const session_id = document._id;
    const timestamp = fixture.now().toISOString();
    expect(await revoke(session_id, bearerOf(caller))).toEqual({
      message: 'SESSION_TERMINATED',
      session_id,
      timestamp,
    });
    const by = isOwn ? {} : { revoked_by: caller.document._id };
    expect(await fixture.asStored(session_id)).toEqual({ ...document, ...ended(reason, by) });
    expect(fixture.audited).toEqual([[{ event: 'session.revoked', user_id, session_id, reason }, fixture.origin]]);
    expect(fixture.announced).toEqual([announcement([session_id], announcedReason)]);
  });

  test.each([
    ['another session makes the account forget its device', false, ['here']],
    ['the caller’s own session leaves its device known', true, ['here', 'lost']],
  ])('an end by id of %s', async (_, isOwn, known_devices) => {
    const { _id: user_id } = await fixture.user({ known_devices: ['here', 'lost'] });
    const caller = await fixture.session({ user_id, device_id: 'here' });
    const other = await fixture.session({ user_id, device_id: 'lost' });
    await revoke((isOwn ? caller : other).document._id, bearerOf(caller));
    expect(await fixture.collections.users.findOne({ _id: user_id })).toMatchObject({ known_devices });
  });

  test('an end by id of an unknown session, or of another user’s, is refused', async () => {
    const [caller, other] = [await fixture.session(), await fixture.session()];
    await expect(revoke(randomUUID(), bearerOf(caller))).rejects.toMatchObject(notFound);
    await expect(revoke(other.document._id, bearerOf(caller))).rejects.toMatchObject(notFound);
    await expectUntouched(caller.document, other.document);
  });
});

describe('a logout everywhere', () => {
  const logOutAll = (body: { except_current?: boolean }, caller: VerifiedAccessToken, origin = fixture.origin) => {
    const { users, sessions, commit, announce, isDenied, now } = fixture;
    return createLogOutAll({ users, sessions, commit, announce, isDenied, now })(body, caller, origin);
  };

  async function household() {
    const { _id: user_id } = await fixture.user();
    const own = await fixture.session({ user_id });
    const others = [await fixture.session({ user_id, last_used_at: new Date(0) }), await fixture.session({ user_id })];
    const otherUser = await fixture.session();
    return { user_id, own, others, otherUser, ids: others.map(({ document }) => document._id) };
  }

  test('a logout everywhere ends every session of the caller’s, and announces that', async () => {
    const { user_id, own, others, otherUser, ids } = await household();
    const timestamp = fixture.now().toISOString();
    const answer = { message: 'SESSIONS_TERMINATED', terminated_sessions: 3, timestamp };
    expect(await logOutAll({}, bearerOf(own))).toEqual(answer);
    const sid = own.document._id;
    expect(await fixture.asStored(sid)).toEqual({ ...own.document, ...ended('logout') });
    for (const { document } of others) {
      const also = { revoked_by: sid };
      expect(await fixture.asStored(document._id)).toEqual({ ...document, ...ended('revoked_by_user', also) });
    }
    expect(await fixture.asStored(otherUser.document._id)).toEqual(otherUser.document);
    const revoked = (session_id: string, reason: string) => [
      { event: 'session.revoked', user_id, session_id, reason },
      fixture.origin,
    ];
    expect(fixture.audited).toEqual([
      [{ event: 'logout.all', user_id, session_id: sid }, fixture.origin],
      ...ids.map((id) => revoked(id, 'revoked_by_user')),
      revoked(sid, 'logout'),
    ]);
    expect(fixture.announced).toEqual([announcement(ids, 'SESSION_REVOKED'), announcement([sid], 'LOGOUT_CONFIRMED')]);
    expect(fixture.verdicts).toEqual([false, true]);
    expect(await fixture.collections.users.findOne({ _id: user_id })).toMatchObject({
      sessions_changed_at: fixture.now(),
      known_devices: [own.document.device_id],
    });
  });

  test('a logout everywhere but here spares the caller’s session', async () => {
    const { own, ids } = await household();
    expect(await logOutAll({ except_current: true }, bearerOf(own))).toMatchObject({ terminated_sessions: 2 });
    expect(await fixture.asStored(own.document._id)).toEqual(own.document);
    expect(fixture.announced).toEqual([announcement(ids, 'SESSION_REVOKED'), announcement([], 'LOGOUT_CONFIRMED')]);
    expect(fixture.audited).toHaveLength(3);
  });

  test('a logout everywhere of the only session is recognised as committed by that session', async () => {
    const { _id: user_id } = await fixture.user();
    const own = await fixture.session({ user_id });
    expect(await logOutAll({}, bearerOf(own))).toMatchObject({ terminated_sessions: 1 });
    expect(fixture.verdicts).toEqual([false, true]);
  });

  test('a logout everywhere but here is recognised as committed by the other sessions', async () => {
    const { own } = await household();
    await logOutAll({ except_current: true }, bearerOf(own));
    expect(fixture.verdicts).toEqual([false, true]);
  });

  test('a logout everywhere by a missing account ends nothing', async () => {
    const own = await fixture.session();
    await expect(logOutAll({}, bearerOf(own))).rejects.toMatchObject({ code: 'IAD_JWT_ACCESS_INVALID' });
    await expectUntouched(own.document);
  });

  test('a logout everywhere whose client has disconnected ends nothing', async () => {
    const { own, others } = await household();
    const origin = { ...fixture.origin, isAbandoned: () => true };
    const ended = logOutAll({}, bearerOf(own), origin);
    await expect(ended).rejects.toThrow(RequestAbandoned);
    await expect(ended).rejects.toMatchObject({
      name: 'RequestAbandoned',
      message: 'the client has given the request up',
    });
    await expectUntouched(own.document, ...others.map(({ document }) => document));
  });
});

test('the list of sessions describes each, the one used last first', async () => {
  const used = (seconds: number) => new Date(fixture.now().getTime() - seconds * 1_000);
  const own = await fixture.session({ last_used_at: used(20) });
  const { user_id } = own.document;
  const last = await fixture.session({ user_id, last_used_at: used(10), device_name: 'Pixel 9', platform: 'android' });
  await fixture.session({ user_id, expires_at: fixture.now() });
  const { sessions, now } = fixture;
  const shown = ({ document }: StoredSession, is_current: boolean) => ({
    session_id: document._id,
    device_id: document.device_id,
    device_name: document.device_name,
    platform: document.platform,
    created_at: document.created_at.toISOString(),
    last_used_at: document.last_used_at.toISOString(),
    expires_at: document.expires_at.toISOString(),
    bound: false,
    trusted: false,
    is_current,
  });
  expect(await createListSessions({ users: fixture.users, sessions, now })(bearerOf(own))).toEqual({
    sessions: [shown(last, false), shown(own, true)],
    timestamp: fixture.now().toISOString(),
  });
});
