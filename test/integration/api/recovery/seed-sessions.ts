import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { SessionDocument } from '@auth-account/stores/documents';
import { createRefreshTokens, loadKeyFile, refreshTokenHash } from '@auth-account/tokens';
import { Binary } from 'mongodb';
import { precomputedHashes } from '../../../../services/api/src/usecases/sessions/session.ts';
import type { TokenPair } from '../../../support/api/accounts.ts';
import type { TestApi } from '../../../support/api/test-api.ts';
import { testEnvironment } from '../../../support/test-environment.ts';

export type SeededSession = Pick<TokenPair, 'refresh_token' | 'session_id' | 'device_id'>;

/** Writes sessions like this one, each on another device, without the work of their logins. */
export async function seedSessions(
  { collections }: Pick<TestApi, 'collections'>,
  { session_id }: Pick<TokenPair, 'session_id'>,
  count: number,
): Promise<SeededSession[]> {
  const refreshTokens = createRefreshTokens(
    await loadKeyFile(join(testEnvironment().keysDir, 'refresh-token-keys.json')),
  );
  const like = await collections.sessions.findOne({ _id: session_id });
  if (like === null) throw new Error(`there is no session ${session_id}`);
  const { kid, gen: generation } = like;
  const seeds = Array.from({ length: count }, () => {
    const [_id, nonce] = [randomUUID(), randomBytes(32)];
    const parts = { kid, sessionId: _id, generation };
    const refresh_token = refreshTokens.issue(parts, nonce);
    const own = { _id, device_id: randomUUID(), nonce: new Binary(nonce), token: refreshTokenHash(refresh_token) };
    const document: SessionDocument = { ...like, ...own, ahead: precomputedHashes(refreshTokens, parts, nonce) };
    return { document, session: { refresh_token, session_id: _id, device_id: own.device_id } };
  });
  await collections.sessions.insertMany(seeds.map(({ document }) => document));
  return seeds.map(({ session }) => session);
}
