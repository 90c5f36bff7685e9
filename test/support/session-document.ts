import { randomBytes, randomUUID } from 'node:crypto';
import type { SessionDocument } from '@auth-account/stores';
import { Binary } from 'mongodb';

/** A live session of nobody in particular, as the store has it. */
export function newSessionDocument(): SessionDocument {
  const now = new Date();
  const later = new Date(now.getTime() + 86_400_000);
  return {
    _id: randomUUID(),
    token: randomBytes(32).toString('base64url'),
    user_id: randomUUID(),
    is_revoked: false,
    nonce: new Binary(randomBytes(32)),
    kid: 'key-1',
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
