import { randomBytes, randomUUID } from 'node:crypto';
import type { KeyFiles } from '@auth-account/local-stack';
import type { SessionDocument } from '@auth-account/stores/documents';
import { createAccessTokenSigner, createRefreshTokens, loadKeyFile, refreshTokenHash } from '@auth-account/tokens';
import { Binary } from 'mongodb';

/** A live session with its tokens. */
export interface SeededSession {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** A session that is not written yet. */
export interface SessionSeed {
  readonly document: SessionDocument;
  tokens(): Promise<SeededSession>;
}

/** User of the session; default: an unknown one. */
export interface SessionOwner {
  readonly userId: string;
  readonly groupId: string;
}

/** Life of the access tokens: the longest run. A server that is to accept them needs the same setting. */
export const seededTokenSeconds = 3_600;

const daysMs = 86_400_000;

/** Creates the function that creates live sessions, as logins would have left them. */
export async function createSessionSeeds(keys: KeyFiles): Promise<(owner?: SessionOwner) => SessionSeed> {
  const refreshTokens = createRefreshTokens(await loadKeyFile(keys.refreshToken));
  const sign = await createAccessTokenSigner({
    keys: await loadKeyFile(keys.accessToken),
    algorithm: 'EdDSA',
    issuer: 'https://auth.local',
    audience: 'food-storage',
    ttlSeconds: seededTokenSeconds,
  });
  return (owner = { userId: randomUUID(), groupId: randomUUID() }) => {
    const [sessionId, nonce, kid] = [randomUUID(), randomBytes(32), refreshTokens.currentKid];
    const refreshToken = refreshTokens.issue({ kid, sessionId, generation: 1 }, nonce);
    const document = newDocument({ sessionId, nonce, kid, refreshToken, owner });
    const { user_id, claims, device_id } = document;
    return {
      document,
      async tokens() {
        return { refreshToken, accessToken: await sign({ user_id, ...claims, sid: sessionId, device_id }) };
      },
    };
  };
}

interface Parts {
  readonly sessionId: string;
  readonly nonce: Buffer;
  readonly kid: string;
  readonly refreshToken: string;
  readonly owner: SessionOwner;
}

function newDocument({ sessionId, nonce, kid, refreshToken, owner }: Parts): SessionDocument {
  const at = new Date();
  const later = (days: number) => new Date(at.getTime() + days * daysMs);
  return {
    _id: sessionId,
    token: refreshTokenHash(refreshToken),
    user_id: owner.userId,
    is_revoked: false,
    nonce: new Binary(nonce),
    kid,
    ...{ gen: 1, parent: 0, floor: 0 },
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
