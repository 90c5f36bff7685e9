import { randomBytes, randomUUID } from 'node:crypto';
import type { KeyFiles } from '@auth-account/local-stack';
import type { PrecomputedHashes, SessionDocument } from '@auth-account/stores/documents';
import { createAccessTokenSigner, createRefreshTokens, loadKeyFile, refreshTokenHash } from '@auth-account/tokens';
import { Binary } from 'mongodb';
import { precomputedHashes } from '../../../../services/api/src/usecases/sessions/session.ts';

/** A live session with its tokens. */
export interface SeededSession {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** A session that is not written yet. */
export interface SessionSeed {
  readonly document: SessionDocument;
  tokens(): SeededSession;
}

/** The user of the session. The default is an unknown user. */
export interface SessionOwner {
  readonly userId: string;
  readonly groupId: string;
}

/**
 * Lifetime of the access tokens, which lasts for the longest run. A server that is to accept them needs the same
 * setting.
 */
export const seededTokenSeconds = 3_600;

const daysMs = 86_400_000;

export interface SessionSeeds {
  /** Creates a live session, as if after a login and `generation - 1` refreshes. */
  newSession(owner?: SessionOwner, generation?: number): SessionSeed;
  /** Creates a session that no token fits, at a fraction of the cost, to fill a store. */
  fillerSession(owner: SessionOwner): SessionDocument;
}

export async function createSessionSeeds(keys: KeyFiles): Promise<SessionSeeds> {
  const refreshTokens = createRefreshTokens(await loadKeyFile(keys.refreshToken));
  const sign = createAccessTokenSigner({
    keys: await loadKeyFile(keys.accessToken),
    issuer: 'https://auth.local',
    audience: 'food-storage',
    ttlSeconds: seededTokenSeconds,
  });
  const kid = refreshTokens.currentKid;
  return {
    newSession(owner = { userId: randomUUID(), groupId: randomUUID() }, generation = 1) {
      const [sessionId, nonce] = [randomUUID(), randomBytes(32)];
      const token = { kid, sessionId, generation };
      const refreshToken = refreshTokens.issue(token, nonce);
      const ahead = precomputedHashes(refreshTokens, token, nonce);
      const hash = refreshTokenHash(refreshToken);
      const document = newDocument({ sessionId, nonce, kid, generation, hash, ahead, owner });
      const { user_id, claims, device_id } = document;
      return {
        document,
        tokens() {
          return { refreshToken, accessToken: sign({ user_id, ...claims, sid: sessionId, device_id }) };
        },
      };
    },
    fillerSession(owner) {
      const hash = randomBytes(32).toString('base64url');
      const ahead = { kid, block: 0, hashes: randomBytes(32 * hashesInBlock).toString('base64url') };
      return newDocument({ sessionId: randomUUID(), nonce: randomBytes(32), kid, generation: 1, hash, ahead, owner });
    },
  };
}

/** The number of precomputed hashes that the api stores in a session. */
const hashesInBlock = 8;

interface Parts {
  readonly sessionId: string;
  readonly nonce: Buffer;
  readonly kid: string;
  readonly generation: number;
  readonly hash: string;
  readonly ahead: PrecomputedHashes;
  readonly owner: SessionOwner;
}

function newDocument({ sessionId, nonce, kid, generation, hash, ahead, owner }: Parts): SessionDocument {
  const at = new Date();
  const later = (days: number) => new Date(at.getTime() + days * daysMs);
  return {
    _id: sessionId,
    token: hash,
    ahead,
    user_id: owner.userId,
    is_revoked: false,
    nonce: new Binary(nonce),
    kid,
    ...{ gen: generation, parent: generation - 1, floor: generation - 1 },
    handed_out_at: at,
    claims: { home_group_id: owner.groupId, account_type: 'HOME', ver: 1 },
    device_id: randomUUID(),
    device_name: null,
    platform: null,
    created_at: at,
    last_used_at: at,
    expires_at: later(30),
    absolute_expires_at: later(180),
  };
}
