import { randomBytes, randomUUID } from 'node:crypto';
import type { Collections } from '@auth-account/stores';
import type { SessionDocument } from '@auth-account/stores/documents';
import { Binary } from 'mongodb';

/** Returns a live session of an arbitrary user, as the store has it, that has begun `at` this time. */
export function newSessionDocument({ kid = 'key-1', at: now = new Date() } = {}): SessionDocument {
  const later = new Date(now.getTime() + 86_400_000);
  return {
    _id: randomUUID(),
    token: randomBytes(32).toString('base64url'),
    user_id: randomUUID(),
    is_revoked: false,
    nonce: new Binary(randomBytes(32)),
    kid,
    gen: 1,
    parent: 0,
    floor: 0,
    handed_out_at: now,
    claims: { home_group_id: randomUUID(), account_type: 'HOME', ver: 1 },
    device_id: randomUUID(),
    device_name: null,
    platform: null,
    created_at: now,
    last_used_at: now,
    expires_at: later,
    absolute_expires_at: later,
  };
}

/** Adds sessions of the same user on other devices, as logins would, all used later than this one. */
export async function insertSessionsBeside(
  { sessions, users }: Pick<Collections, 'sessions' | 'users'>,
  sessionId: string,
  count: number,
): Promise<void> {
  const template = await sessions.findOne({ _id: sessionId });
  if (template === null) throw new Error(`the session ${sessionId} is not stored`);
  await users.updateOne({ _id: template.user_id }, { $inc: { touches: count } });
  const usedLater = (index: number) => new Date(template.last_used_at.getTime() + 1_000 * (index + 1));
  await sessions.insertMany(
    Array.from({ length: count }, (_, index) => ({
      ...template,
      _id: randomUUID(),
      device_id: randomUUID(),
      last_used_at: usedLater(index),
    })),
  );
}
