import { randomUUID } from 'node:crypto';
import type { Collections, PresentUser } from '@auth-account/stores';
import type { GroupDocument, UserDocument } from '@auth-account/stores/documents';
import { unnamedDevice } from '@auth-account/stores/known-devices';
import { newEmail } from './accounts.ts';

/** Returns the owner of a household as the store has it, of whom nothing is due. */
export function newUserDocument(at: Date): PresentUser {
  const email = newEmail();
  const made: UserDocument = {
    _id: randomUUID(),
    email,
    email_key: email,
    password_hash: 'hash of: correct horse battery',
    home_group_id: randomUUID(),
    account_type: 'HOME',
    role: 'owner',
    created_at: at,
    joined_at: at,
  };
  return made as PresentUser;
}

/**
 * Creates an account as a registration and one login leave it, both without a `device_id`. So its next login comes from
 * a known device, as most logins do. It is still to be written.
 */
export function newAccountSeed(password_hash: string) {
  const at = new Date();
  const login = { last_login_at: at, known_devices: [unnamedDevice], touches: 1, spent_touches: 0 };
  const user: UserDocument = { ...newUserDocument(at), password_hash, ...login };
  const { _id: owner_id, home_group_id: _id, account_type } = user;
  const group: GroupDocument = { _id, account_type, owner_id, member_count: 1, created_at: at, closed_at: null };
  return { user, group };
}

/** Writes accounts with this password hash, and returns their email addresses. */
export async function seedAccounts(collections: Collections, count: number, passwordHash: string): Promise<string[]> {
  const seeds = Array.from({ length: count }, () => newAccountSeed(passwordHash));
  await collections.groups.insertMany(seeds.map(({ group }) => group));
  await collections.users.insertMany(seeds.map(({ user }) => user));
  return seeds.map(({ user }) => user.email);
}
