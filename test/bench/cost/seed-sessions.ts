import { randomBytes, randomUUID } from 'node:crypto';
import type { KeyFiles } from '@auth-account/local-stack';
import type { Collections, SessionDocument } from '@auth-account/stores';
import { createAccessTokenSigner, createRefreshTokens, loadKeyFile, refreshTokenHash } from '@auth-account/tokens';
import { Binary } from 'mongodb';

/** A live session with its tokens. */
export interface SeededSession {
  readonly accessToken: string;
  readonly refreshToken: string;
}

const daysMs = 86_400_000;

/** Writes live sessions, one for each of as many users, as logins would have left them, and makes their tokens. */
export async function seedSessions(collections: Collections, keys: KeyFiles, count: number): Promise<SeededSession[]> {
  const refreshTokens = createRefreshTokens(await loadKeyFile(keys.refreshToken));
  const sign = await createAccessTokenSigner({
    keys: await loadKeyFile(keys.accessToken),
    algorithm: 'EdDSA',
    issuer: 'https://auth.local',
    audience: 'food-storage',
    ttlSeconds: 3_600,
  });
  const documents: SessionDocument[] = [];
  const seeded: SeededSession[] = [];
  for (let index = 0; index < count; index += 1) {
    const [sessionId, nonce, kid] = [randomUUID(), randomBytes(32), refreshTokens.currentKid];
    const refreshToken = refreshTokens.issue({ kid, sessionId, generation: 1 }, nonce);
    const document = newDocument({ sessionId, nonce, kid, refreshToken });
    const { user_id, claims, device_id } = document;
    documents.push(document);
    seeded.push({ refreshToken, accessToken: await sign({ user_id, ...claims, sid: sessionId, device_id }) });
  }
  await collections.sessions.insertMany(documents);
  return seeded;
}

interface Parts {
  readonly sessionId: string;
  readonly nonce: Buffer;
  readonly kid: string;
  readonly refreshToken: string;
}

function newDocument({ sessionId, nonce, kid, refreshToken }: Parts): SessionDocument {
  const at = new Date();
  const later = (days: number) => new Date(at.getTime() + days * daysMs);
  return {
    _id: sessionId,
    token: refreshTokenHash(refreshToken),
    user_id: randomUUID(),
    is_revoked: false,
    nonce: new Binary(nonce),
    kid,
    ...{ gen: 1, parent: 0, floor: 0 },
    handed_out_at: at,
    claims: { home_group_id: randomUUID(), account_type: 'HOME', ver: 1 },
    device_id: randomUUID(),
    device_name: null,
    platform: null,
    created_at: at,
    last_used_at: at,
    expires_at: later(30),
    absolute_expires_at: later(180),
  };
}
