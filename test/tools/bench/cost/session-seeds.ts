import { randomBytes, randomUUID } from 'node:crypto';
import type { KeyFiles } from '@auth-account/local-stack';
import type { SessionDocument } from '@auth-account/stores/documents';
import { createAccessTokenSigner, createRefreshTokens, loadKeyFile, refreshTokenHash } from '@auth-account/tokens';
import { Binary } from 'mongodb';
import { precomputedHashes } from '../../../../services/api/src/usecases/sessions/session.ts';
import type { TokenPair } from '../../../support/api/accounts.ts';
import { newSessionDocument } from '../../../support/api/session-document.ts';

/** A live session with its tokens. */
export type SeededSession = Pick<TokenPair, 'session_id' | 'access_token' | 'refresh_token'>;

/** The user of the session. The default is an unknown user. */
export interface SessionOwner {
  readonly userId: string;
  readonly groupId: string;
}

/** Lifetime of the access tokens, which outlasts a measurement. A server that is to accept them needs the same. */
export const seededTokenSeconds = 3_600;

const daysMs = 86_400_000;
/** The number of precomputed hashes that the api stores in a session. */
const hashesInBlock = 8;

export async function createSessionSeeds(keys: KeyFiles) {
  const refreshTokens = createRefreshTokens(await loadKeyFile(keys.refreshToken));
  const sign = createAccessTokenSigner({
    keys: await loadKeyFile(keys.accessToken),
    issuer: 'https://auth.local',
    audience: 'food-storage',
    ttlSeconds: seededTokenSeconds,
  });
  const kid = refreshTokens.currentKid;
  return {
    /**
     * Creates a live session that is not written yet, as if after a login and `generation - 1` refreshes. The access
     * token is signed when `session` is called, because a large store takes longer to fill than a token lives.
     */
    newSession(owner: SessionOwner = { userId: randomUUID(), groupId: randomUUID() }, generation = 1) {
      const [sessionId, nonce] = [randomUUID(), randomBytes(32)];
      const parts = { kid, sessionId, generation };
      const refresh_token = refreshTokens.issue(parts, nonce);
      const document = newDocument(owner, {
        ...{ _id: sessionId, kid, nonce: new Binary(nonce), token: refreshTokenHash(refresh_token) },
        ...{ gen: generation, parent: generation - 1, floor: generation - 1 },
        ahead: precomputedHashes(refreshTokens, parts, nonce),
      });
      const { user_id, claims, device_id } = document;
      const session = (): SeededSession => ({
        ...{ session_id: sessionId, refresh_token },
        access_token: sign({ user_id, ...claims, sid: sessionId, device_id }),
      });
      return { document, session };
    },
    /** Creates a session that no token fits, at a fraction of the cost, to fill a store. */
    fillerSession(owner: SessionOwner) {
      const hashes = randomBytes(32 * hashesInBlock).toString('base64url');
      return newDocument(owner, { kid, ahead: { kid, block: 0, hashes } });
    },
  };
}

function newDocument({ userId, groupId }: SessionOwner, own: Partial<SessionDocument>): SessionDocument {
  const [any, now] = [newSessionDocument(), Date.now()];
  return {
    ...any,
    user_id: userId,
    claims: { ...any.claims, home_group_id: groupId },
    expires_at: new Date(now + 30 * daysMs),
    absolute_expires_at: new Date(now + 180 * daysMs),
    ...own,
  };
}
