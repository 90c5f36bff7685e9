import { waitUntil } from '@auth-account/local-stack';
import type { SessionDocument } from '@auth-account/stores/documents';
import { holdMs } from '@auth-account/stores/session-hold';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createRefresh } from '../../../services/api/src/usecases/sessions/refresh.ts';
import {
  openUseCaseFixture,
  readsOf,
  type StoredSession,
  type UseCaseFixture,
} from '../../support/api/use-case-fixture.ts';

let fixture: UseCaseFixture;
beforeAll(async () => {
  fixture = await openUseCaseFixture();
});
/** The clock by which a refresh waits for the end of a hold. It moves only when a test moves it. */
let clockMs = 0;
beforeEach(async () => {
  await fixture.clear();
  jest.spyOn(performance, 'now').mockImplementation(() => clockMs);
});
afterEach(() => void jest.restoreAllMocks());
afterAll(() => fixture.close());

/** Returns the refresh of one api, which counts its refreshes of a session together. */
function openApi(sessions = fixture.sessions) {
  const { refreshTokens, issueTokens, announce, isDenied, audit, now } = fixture;
  const own = { sessions, refreshTokens, issueTokens, announce, isDenied, audit, now, retryWindowMs: 30_000 };
  const limits = { refresh: async () => undefined };
  const refresh = createRefresh({ ...own, limits, lifetime: { idleSeconds: 7_200, absoluteSeconds: 86_400 } });
  return ({ token }: StoredSession) => refresh({ refresh_token: token }, fixture.origin);
}

const holdOf = ({ document }: StoredSession) => fixture.sessions.holdOf([document.user_id]);
const busy = { code: 'ERR-DEPENDENCY-UNAVAILABLE', retryAfterSeconds: 1 };
const unheld = ({ _id }: SessionDocument) =>
  fixture.collections.sessions.countDocuments({ _id, hold: { $exists: false } });

describe('a refresh of a held session', () => {
  test('a refresh of a held session waits until the hold is released', async () => {
    const session = await fixture.session();
    const hold = holdOf(session);
    await hold.take();
    const refreshed = openApi()(session);
    await expect(Promise.race([refreshed, hold.take().then(() => 'held')])).resolves.toBe('held');
    expect(await fixture.asStored(session.document._id)).toMatchObject({ gen: 1 });
    await hold.release();
    await refreshed;
    expect(await fixture.asStored(session.document._id)).toMatchObject({ gen: 2 });
  });

  // guarantees: recovery-wins
  test('a refresh of a held session continues after the longest time of a hold, whatever the clocks show', async () => {
    const session = await fixture.session();
    await holdOf(session).take();
    fixture.pass(300_000);
    const { sessions, reads } = readsOf(fixture);
    const refreshed = openApi(sessions)(session);
    /** Waits until the refresh has looked at the hold once more. */
    const untilRead = async () => {
      const before = reads.length;
      await waitUntil(async () => reads.length > before, { what: 'a read', timeoutMs: 60_000, intervalMs: 5 });
    };
    await untilRead();
    clockMs += holdMs - 1;
    await untilRead();
    await untilRead();
    expect(await unheld(session.document)).toBe(0);
    clockMs += 1;
    await refreshed;
    expect(await unheld(session.document)).toBe(1);
  });

  test('a refresh of a session that is held again and again has to be retried', async () => {
    const session = await fixture.session();
    const hold = holdOf(session);
    await hold.take();
    let isOver = false;
    const refused = expect(openApi()(session))
      .rejects.toMatchObject(busy)
      .finally(() => (isOver = true));
    while (!isOver) {
      await hold.take();
      clockMs += 100;
    }
    await refused;
    expect(await fixture.asStored(session.document._id)).toMatchObject({ gen: 1, is_revoked: false });
  });

  test('a refresh of a held session has to be retried at once if two others wait already', async () => {
    const session = await fixture.session();
    const hold = holdOf(session);
    await hold.take();
    const refresh = openApi();
    let refused = 0;
    const answers = Array.from({ length: 5 }, () =>
      refresh(session).catch((error: unknown) => {
        expect(error).toMatchObject(busy);
        refused += 1;
      }),
    );
    await waitUntil(async () => refused === 3, { what: 'three refusals', timeoutMs: 60_000, intervalMs: 5 });
    await hold.release();
    await Promise.all(answers);
    expect([refused, await fixture.asStored(session.document._id)]).toMatchObject([3, { gen: 2 }]);
  });

  test('a refresh of a held session finds out that the session has ended', async () => {
    const session = await fixture.session();
    const { _id } = session.document;
    await holdOf(session).take();
    const refused = expect(openApi()(session)).rejects.toMatchObject({ code: 'IAD_JWT_REFRESH_STOLEN' });
    const revocation = { reason: 'password_changed', at: fixture.now(), requestId: 'request-2' } as const;
    await fixture.sessions.revokeAll([_id], revocation);
    await refused;
  });
});

test('a hold spares the sessions of other accounts, and ended ones', async () => {
  const own = await fixture.session();
  const { user_id } = own.document;
  const [over, others] = [await fixture.session({ user_id, is_revoked: true }), await fixture.session()];
  await holdOf(own).take();
  expect(await Promise.all([own, over, others].map(({ document }) => unheld(document)))).toEqual([0, 1, 1]);
});

test('the later of two holds counts, and the earlier one does not release it', async () => {
  const session = await fixture.session();
  const [earlier, later] = [holdOf(session), holdOf(session)];
  await earlier.take();
  await later.take();
  await earlier.release();
  expect(await unheld(session.document)).toBe(0);
  await later.release();
  expect(await unheld(session.document)).toBe(1);
});
