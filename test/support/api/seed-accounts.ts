import { randomUUID } from 'node:crypto';
import type { Collections } from '@auth-account/stores';
import type { GroupDocument, UserDocument } from '@auth-account/stores/documents';
import { unnamedDevice } from '@auth-account/stores/known-devices';
import { newEmail } from './accounts.ts';

/** A household of one member that is still to be written. */
export interface AccountSeed {
  readonly user: UserDocument;
  readonly group: GroupDocument;
}

/**
 * Creates an account as a registration and one login leave it, both without a `device_id`. So its next login comes from
 * a known device, as most logins do.
 */
export function newAccountSeed(passwordHash: string): AccountSeed {
  const [at, email, userId, groupId] = [new Date(), newEmail(), randomUUID(), randomUUID()];
  return {
    user: {
      _id: userId,
      email,
      email_key: email,
      password_hash: passwordHash,
      home_group_id: groupId,
      account_type: 'HOME',
      role: 'owner',
      created_at: at,
      joined_at: at,
      last_login_at: at,
      known_devices: [unnamedDevice],
      touches: 1,
      spent_touches: 0,
    },
    group: { _id: groupId, account_type: 'HOME', owner_id: userId, member_count: 1, created_at: at, closed_at: null },
  };
}

/** Writes accounts with this password hash, and returns their email addresses. */
export async function seedAccounts(collections: Collections, count: number, passwordHash: string): Promise<string[]> {
  const seeds = Array.from({ length: count }, () => newAccountSeed(passwordHash));
  await collections.groups.insertMany(seeds.map(({ group }) => group));
  await collections.users.insertMany(seeds.map(({ user }) => user));
  return seeds.map(({ user }) => user.email);
}
