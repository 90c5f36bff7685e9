import type { SessionDocument } from '@auth-account/stores/documents';
import { createRefreshTokens, generateSecretKey } from '@auth-account/tokens';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createRefresh, type RefreshDeps } from '../../../services/api/src/usecases/sessions/refresh.ts';
import { createIssueTokens, precomputedHashes } from '../../../services/api/src/usecases/sessions/session.ts';
import { hashOf, openUseCaseFixture, readsOf, type UseCaseFixture } from '../../support/api/use-case-fixture.ts';

const idleSeconds = 3_600;
const retryWindowMs = 30_000;
const unusual = ['find'];

let fixture: UseCaseFixture;
beforeAll(async () => {
  fixture = await openUseCaseFixture();
});
afterAll(() => fixture.close());

/** Refreshes. Returns the next token, the reads of the session, and the attempted writes. */
async function refresh(token: string, deps: Partial<RefreshDeps> = {}) {
  const { refreshTokens, issueTokens, announce, isDenied, audit, now } = fixture;
  const { sessions: counted, reads } = readsOf(fixture);
  const writes: string[] = [];
  const sessions: RefreshDeps['sessions'] = {
    ...counted,
    advance: (advance) => counted.advance(advance).finally(() => writes.push('advance')),
    rotate: (seen, rotation) =>
      counted.rotate(seen, rotation).finally(() => writes.push(`rotate: ${Object.keys(rotation).sort().join(' ')}`)),
  };
  const limits = { refresh: async () => undefined };
  const lifetime = { idleSeconds, absoluteSeconds: 86_400 };
  const own = { sessions, refreshTokens, issueTokens, announce, isDenied, audit, now, limits, lifetime, retryWindowMs };
  const { refresh_token: next } = await createRefresh({ ...own, ...deps })({ refresh_token: token }, fixture.origin);
  return { next, reads, writes };
}

const storedOf = async ({ _id }: SessionDocument) => (await fixture.asStored(_id)) as SessionDocument;
const change = ({ _id }: SessionDocument, update: object) => fixture.collections.sessions.updateOne({ _id }, update);

/** Refreshes this number of times, each by the token of the last. Returns for each generation what was read. */
async function refreshOften(document: SessionDocument, first: string, times: number) {
  const readAt = new Map<number, readonly string[]>();
  let token = first;
  for (let round = 0; round < times; round += 1) {
    fixture.pass(1_000);
    const { next, reads } = await refresh(token);
    const stored = await storedOf(document);
    expect(stored).toMatchObject({ gen: round + 2, parent: round + 1, floor: round + 1, token: hashOf(next) });
    expect(stored.expires_at).toEqual(new Date(fixture.now().getTime() + idleSeconds * 1_000));
    if (reads.length > 0) readAt.set(stored.gen, reads);
    token = next;
  }
  return { readAt, token };
}

describe('a refresh by the newest token', () => {
  test('a refresh by the newest token reads only every eighth time, when it writes the hashes of the next eight', async () => {
    const { document, token } = await fixture.session();
    const { readAt } = await refreshOften(document, token, 24);
    expect(readAt).toEqual(new Map([8, 16, 24].map((generation) => [generation, unusual])));
  });

  test('a refresh reads once in a session of an earlier release, which has no hashes', async () => {
    const { document, token } = await fixture.session();
    await change(document, { $unset: { ahead: 1 } });
    const { readAt } = await refreshOften(document, token, 6);
    expect(readAt).toEqual(new Map([[2, unusual]]));
  });

  test('a refresh is not tried without a read if the next hash is not there', async () => {
    const { token } = await fixture.session({ gen: 7, parent: 6, floor: 6 });
    const { writes } = await refresh(token);
    expect(writes).toEqual(['rotate: ahead expires_at floor gen handed_out_at kid last_used_at parent token']);
  });

  test('a refresh by the newest token is refused, after a read, if the session ends at the same moment', async () => {
    const { token } = await fixture.session({ expires_at: fixture.now() });
    await expect(refresh(token)).rejects.toMatchObject({ code: 'IAD_JWT_REFRESH_EXPIRED' });
    const { token: ofRevoked } = await fixture.session({ is_revoked: true, revoked_reason: 'logout' });
    await expect(refresh(ofRevoked)).rejects.toMatchObject({ code: 'IAD_JWT_REFRESH_STOLEN' });
  });
});

test('a refresh by an older token reads, and leaves the precomputed hashes as they are', async () => {
  const { document, token } = await fixture.session();
  await refresh(token);
  fixture.pass(retryWindowMs + 1);
  const { next, writes } = await refresh(token);
  expect(writes).toEqual(['advance', 'rotate: expires_at floor gen handed_out_at kid last_used_at parent token']);
  expect(await storedOf(document)).toMatchObject({ gen: 3, ahead: document.ahead, token: hashOf(next) });
});

test('a token that the database has under another nonce is not genuine, though its hash is there', async () => {
  const { document, token } = await fixture.session();
  const { document: other } = await fixture.session();
  await change(document, { $set: { nonce: other.nonce } });
  await expect(refresh(token)).rejects.toMatchObject({ code: 'IAD_JWT_REFRESH_EXPIRED' });
});

describe('refreshes after a rotation of the keys', () => {
  const newKey = generateSecretKey();

  /** Returns the dependencies of an api that has the new key in front of the old key. */
  function rotated() {
    const refreshTokens = createRefreshTokens({ keys: [newKey, ...fixture.refreshKeys.keys] });
    const settings = { signAccessToken: () => 'an access token', accessTokenTtlSeconds: 600, pushPublicUrl: '' };
    return { refreshTokens, issueTokens: createIssueTokens({ ...settings, refreshTokens, now: fixture.now }) };
  }

  test('a token of the old key causes a read, and from then on the hashes are of the new key', async () => {
    const { document, token } = await fixture.session();
    const deps = rotated();
    const first = await refresh(token, deps);
    expect(first.reads).toEqual(unusual);
    expect(first.writes).toEqual([expect.stringMatching(/^rotate: ahead /)]);
    expect(await storedOf(document)).toMatchObject({
      kid: newKey.kid,
      ahead: { kid: newKey.kid },
      token: hashOf(first.next),
    });
    const second = await refresh(first.next, deps);
    expect(second.reads).toEqual([]);
    expect((await storedOf(document)).token).toBe(hashOf(second.next));
  });

  test('hashes of the old key are not used for a token of the new one', async () => {
    // The session is as an earlier release leaves it, which knows nothing of the hashes.
    const { document } = await fixture.session();
    const deps = rotated();
    const sessionId = document._id;
    const nonce = Buffer.from(document.nonce.value());
    const made = deps.refreshTokens.issue({ kid: newKey.kid, sessionId, generation: 2 }, nonce);
    await change(document, { $set: { kid: newKey.kid, gen: 2, parent: 1, floor: 1, token: hashOf(made) } });
    const { next, reads } = await refresh(made, deps);
    expect(reads).toEqual(unusual);
    expect((await storedOf(document)).token).toBe(hashOf(next));
  });
});

test('the precomputed hashes are those of the next tokens, each in its position', async () => {
  const { refreshTokens } = fixture;
  const { document } = await fixture.session();
  const { _id: sessionId, kid, nonce } = document;
  const bytes = Buffer.from(nonce.value());
  for (const generation of [1, 7, 8, 15, 4_294_967_288]) {
    const { block, hashes } = precomputedHashes(refreshTokens, { kid, sessionId, generation }, bytes);
    const of = (each: number) => hashOf(refreshTokens.issue({ kid, sessionId, generation: each }, bytes));
    expect(hashes).toBe(Array.from({ length: 8 }, (_, place) => of(block * 8 + place)).join(''));
  }
});
