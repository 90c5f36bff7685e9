import { randomUUID } from 'node:crypto';
import type { Collections, UserDocument } from '@auth-account/stores';
import { newEmail } from './accounts.ts';

/** Writes accounts with this password hash, as an import would, and gives their addresses. */
export async function seedAccounts(collections: Collections, count: number, passwordHash: string): Promise<string[]> {
  const at = new Date();
  const users = Array.from({ length: count }, (): UserDocument => {
    const email = newEmail();
    return {
      _id: randomUUID(),
      email,
      email_key: email,
      password_hash: passwordHash,
      home_group_id: randomUUID(),
      account_type: 'HOME',
      role: 'owner',
      created_at: at,
      joined_at: at,
    };
  });
  await collections.groups.insertMany(
    users.map(({ _id, home_group_id }) => ({
      _id: home_group_id,
      account_type: 'HOME',
      owner_id: _id,
      member_count: 1,
      created_at: at,
      closed_at: null,
    })),
  );
  await collections.users.insertMany(users);
  return users.map(({ email }) => email);
}
