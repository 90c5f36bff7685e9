import type { RevocationReason, SessionDocument } from '@auth-account/stores/documents';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createEndSessions } from '../../../services/api/src/usecases/sessions/end-sessions.ts';
import { createLogOut, type LogOutDeps } from '../../../services/api/src/usecases/sessions/log-out.ts';
import { createLogOutAll } from '../../../services/api/src/usecases/sessions/log-out-all.ts';
import {
  createRevokeSession,
  type RevokeSessionDeps,
} from '../../../services/api/src/usecases/sessions/revoke-session.ts';
import {
  bearerOf,
  openUseCaseFixture,
  readsOf,
  type StoredSession,
  type UseCaseFixture,
} from '../../support/api/use-case-fixture.ts';

let fixture: UseCaseFixture;
/** Reads of a session by the last use case. */
let reads: readonly string[];
beforeAll(async () => {
  fixture = await openUseCaseFixture();
});
beforeEach(() => fixture.clear());
afterAll(() => fixture.close());

/** Returns the use cases' shared dependencies, with overrides. */
function depsWith<T extends object>(also: T) {
  const { users, commit, refreshTokens, announce, isDenied, audit, now } = fixture;
  const { sessions, ...counted } = readsOf(fixture);
  reads = counted.reads;
  return { users, sessions, commit, refreshTokens, announce, isDenied, audit, now, ...also };
}

const logOut = (refresh_token: string, caller: StoredSession, also: Partial<LogOutDeps> = {}) =>
  createLogOut(depsWith(also))({ refresh_token }, bearerOf(caller), fixture.origin);
const revoke = (id: string, caller: StoredSession, also: Partial<RevokeSessionDeps> = {}) =>
  createRevokeSession(depsWith({ endSessions: createEndSessions(fixture), ...also }))(
    id,
    bearerOf(caller),
    fixture.origin,
  );
const logOutAll = (body: { except_current?: boolean }, caller: StoredSession) =>
  createLogOutAll(depsWith({}))(body, bearerOf(caller), { ...fixture.origin, caller: bearerOf(caller) });

const aMinuteAgo = () => new Date(fixture.now().getTime() - 60_000);
/** Stores a session that another request ended a minute ago. */
const endedBy = (revoked_reason: RevocationReason, fields: Partial<SessionDocument> = {}) => {
  const ended = { is_revoked: true, revoked_at: aMinuteAgo(), revoked_reason, revoked_request_id: 'request-0' };
  return fixture.session({ ...ended, ...fields });
};
const notificationOf = ({ document }: StoredSession, reason: string, also: object = {}) => {
  return { sessionIds: [document._id], reason, requestId: 'request-0', at: aMinuteAgo(), ...also };
};
const notifiedNow = (sessionIds: string[], reason: string) => {
  return { sessionIds, reason, requestId: 'request-1', at: fixture.now() };
};
const notFound = { code: 'ERR-LOGOUT-TARGET-NOT-FOUND', name: 'AppError' };

/** Asserts that these announcements were the only effect. */
async function expectOnlyNotification(announcements: object[], ...sessions: StoredSession[]): Promise<void> {
  for (const { document } of sessions) expect(await fixture.asStored(document._id)).toEqual(document);
  expect(fixture.audited).toEqual([]);
  expect(fixture.announced).toEqual(announcements);
}

const reasons: readonly [RevocationReason, string][] = [
  ['logout', 'LOGOUT_CONFIRMED'],
  ['revoked_by_user', 'SESSION_REVOKED'],
  ['revoked_by_provider', 'SESSION_REVOKED'],
  ['replaced', 'SESSION_REPLACED'],
];

describe('a logout of which MongoDB’s answer is lost', () => {
  /** Returns a store that revokes the session or not, and in both cases returns undefined. */
  const silent = (isWritten: boolean): LogOutDeps['sessions'] => ({
    ...readsOf(fixture).sessions,
    async revokeNewest(match, revocation): Promise<undefined> {
      if (isWritten) await fixture.sessions.revokeNewest(match, revocation);
      return;
    },
  });

  test.each([
    ['after it has written', true, 2],
    ['before it has written', false, 1],
  ])('a logout of which MongoDB’s answer is lost %s is a logout all the same', async (_, isWritten, times) => {
    const own = await fixture.session();
    const { _id: session_id, user_id } = own.document;
    const answer = await logOut(own.token, own, { sessions: silent(isWritten) });
    expect(answer).toMatchObject({ message: 'SESSION_TERMINATED' });
    const ended = { revoked_at: fixture.now(), revoked_reason: 'logout', revoked_request_id: 'request-1' };
    expect(await fixture.asStored(session_id)).toEqual({ ...own.document, is_revoked: true, ...ended });
    expect(fixture.audited).toEqual([[{ event: 'logout.succeeded', user_id, session_id }, fixture.origin]]);
    expect(fixture.announced).toEqual(Array(times).fill(notifiedNow([session_id], 'LOGOUT_CONFIRMED')));
  });

  test.each<[string, () => Promise<StoredSession>]>([
    ['that another request ended at another time', () => endedBy('logout', { revoked_request_id: 'request-1' })],
    ['that another request ended at the same moment', () => endedBy('logout', { revoked_at: fixture.now() })],
    ['that has expired', () => fixture.session({ expires_at: fixture.now() })],
    [
      'that is not there',
      async () => {
        const gone = await fixture.session();
        await fixture.collections.sessions.deleteOne({ _id: gone.document._id });
        return gone;
      },
    ],
  ])('a logout of which MongoDB’s answer is lost does not count for a session %s', async (_, stored) => {
    const own = await stored();
    const before = await fixture.asStored(own.document._id);
    await expect(logOut(own.token, own, { sessions: silent(true) })).rejects.toMatchObject(notFound);
    expect(await fixture.asStored(own.document._id)).toEqual(before);
    expect(fixture.audited).toEqual([]);
  });
});

describe('a logout', () => {
  // guarantees: answers-not-rolled-back
  test.each(reasons)(
    'a logout of a session that has ended (%s) is refused once a majority has that, and announces the end again',
    async (by, reason) => {
      const own = await endedBy(by, { gen: 2 });
      for (const generation of [1, 2]) {
        fixture.announced.splice(0);
        await expect(logOut(fixture.tokenOf(own.document, generation), own)).rejects.toMatchObject(notFound);
        expect(reads).toEqual(['find', 'confirmed']);
        await expectOnlyNotification([notificationOf(own, reason)], own);
      }
    },
  );

  test('a logout of another session that has ended closes the stream of this one as well', async () => {
    const phone = await fixture.session();
    const tablet = await endedBy('logout', { user_id: phone.document.user_id });
    await expect(logOut(tablet.token, phone)).rejects.toMatchObject(notFound);
    await expectOnlyNotification(
      [notificationOf(tablet, 'LOGOUT_CONFIRMED', { alsoClose: phone.document._id })],
      phone,
      tablet,
    );
  });

  test('a logout of a session whose end Redis knows announces nothing again, and asks no majority', async () => {
    const own = await endedBy('logout');
    const asked: string[] = [];
    const isDenied = async (sessionId: string) => asked.push(sessionId) > 0;
    await expect(logOut(own.token, own, { isDenied })).rejects.toMatchObject(notFound);
    expect([reads, asked]).toEqual([['find'], [own.document._id]]);
    await expectOnlyNotification([], own);
  });

  test('a logout by no valid token of an ended session announces nothing, and asks no majority', async () => {
    const [own, theirs] = [await endedBy('logout'), await endedBy('logout')];
    const { nonce } = theirs.document;
    for (const token of [fixture.tokenOf({ ...own.document, nonce }), theirs.token]) {
      await expect(logOut(token, own)).rejects.toMatchObject(notFound);
      expect(reads).toEqual(['find']);
    }
    await expectOnlyNotification([], own, theirs);
  });

  test('a logout by an older token of a live session reads it once, and asks no majority', async () => {
    const own = await fixture.session({ gen: 2 });
    await logOut(fixture.tokenOf(own.document, 1), own);
    expect(reads).toEqual(['find']);
    expect(await fixture.asStored(own.document._id)).toMatchObject({ is_revoked: true });
  });

  test('a logout of a session that expires at that moment is refused', async () => {
    const own = await fixture.session({ gen: 2, expires_at: fixture.now() });
    await expect(logOut(fixture.tokenOf(own.document, 1), own)).rejects.toMatchObject(notFound);
    expect(reads).toEqual(['find']);
    await expectOnlyNotification([], own);
  });

  test('a logout is carried out if an end that was read has been rolled back', async () => {
    const own = await fixture.session({ gen: 2 });
    const find = async () => ({ ...own.document, is_revoked: true });
    await logOut(fixture.tokenOf(own.document, 1), own, { sessions: { ...fixture.sessions, find } });
    expect(await fixture.asStored(own.document._id)).toMatchObject({ is_revoked: true, revoked_reason: 'logout' });
    expect(fixture.announced).toEqual([notifiedNow([own.document._id], 'LOGOUT_CONFIRMED')]);
  });
});

describe('the end of a session by its id', () => {
  test.each(reasons)(
    'an end by id of a session that has ended (%s) is refused once a majority has that, and announces the end again',
    async (by, reason) => {
      const caller = await fixture.session();
      const other = await endedBy(by, { user_id: caller.document.user_id });
      await expect(revoke(other.document._id, caller)).rejects.toMatchObject(notFound);
      expect(reads).toEqual(['find', 'confirmed']);
      await expectOnlyNotification([notificationOf(other, reason)], caller, other);
    },
  );

  test('an end by id of another user’s ended session announces nothing, and asks no majority', async () => {
    const [caller, other] = [await fixture.session(), await endedBy('logout')];
    await expect(revoke(other.document._id, caller)).rejects.toMatchObject(notFound);
    expect(reads).toEqual(['find']);
    await expectOnlyNotification([], caller, other);
  });

  test('an end by id of a live session reads nothing before', async () => {
    const own = await fixture.session();
    await revoke(own.document._id, own);
    expect(reads).toEqual([]);
  });

  test('an end by id is carried out if an end that was read has been rolled back', async () => {
    const own = await fixture.session();
    const { _id } = own.document;
    const misses = [false];
    const revokeOwn: typeof fixture.sessions.revokeOwn = async (...wanted) =>
      misses.shift() ?? fixture.sessions.revokeOwn(...wanted);
    const find = async () => ({ ...own.document, is_revoked: true });
    const sessions = { ...fixture.sessions, revokeOwn, find };
    expect(await revoke(_id, own, { sessions })).toMatchObject({ session_id: _id });
    expect(await fixture.asStored(_id)).toMatchObject({ is_revoked: true, revoked_reason: 'logout' });
  });
});

describe('a logout everywhere', () => {
  test.each([{}, { except_current: true }])(
    'a logout everywhere with %j by a session that has ended is refused, and announces that end again',
    async (body) => {
      const { _id: user_id } = await fixture.user();
      const own = await endedBy('logout', { user_id });
      const other = await fixture.session({ user_id });
      await expect(logOutAll(body, own)).rejects.toMatchObject({ code: 'IAD_JWT_ACCESS_INVALID' });
      await expectOnlyNotification([notificationOf(own, 'LOGOUT_CONFIRMED')], own, other);
    },
  );

  test('a logout everywhere does not read the caller’s live session by itself', async () => {
    const { _id: user_id } = await fixture.user();
    await logOutAll({}, await fixture.session({ user_id }));
    expect(reads).toEqual([]);
  });

  test('a logout everywhere that finds nothing to end does not count as committed, as it has written nothing', async () => {
    const { _id: user_id } = await fixture.user();
    await logOutAll({ except_current: true }, await fixture.session({ user_id }));
    // Only the fixture calls `isCommitted`, before and after the commit. The service does not, after an acknowledged
    // commit.
    expect(fixture.verdicts).toEqual([false, false]);
    expect(reads).toEqual([]);
  });
});
