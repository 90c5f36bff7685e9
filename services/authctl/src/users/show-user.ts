import type { Collections } from '@auth-account/stores';
import type { UserDocument } from '@auth-account/stores/documents';
import type { Outcome } from '../cli/outcome.ts';
import { fieldList } from '../cli/table.ts';
import { loadUser } from './load-user.ts';

/** The user, their group and how many sessions they have; never the hash. */
export async function showUser(collections: Collections, idOrEmail: string, now: Date): Promise<Outcome> {
  const user = await loadUser(collections, idOrEmail);
  const live = { user_id: user._id, is_revoked: false, expires_at: { $gt: now } };
  const [group, sessions] = await Promise.all([
    collections.groups.findOne({ _id: user.home_group_id }),
    collections.sessions.countDocuments(live),
  ]);
  const json = {
    user_id: user._id,
    email: user.email,
    password: hashKindOf(user),
    home_group_id: user.home_group_id,
    account_type: user.account_type,
    role: user.role,
    created_at: user.created_at,
    joined_at: user.joined_at,
    last_login_at: user.last_login_at ?? null,
    group_members: group?.member_count ?? null,
    live_sessions: sessions,
  };
  return { json, text: fieldList(json) };
}

/** What made the password's hash: `argon2id`, `bcrypt`; nothing of the hash itself. */
function hashKindOf({ password_hash }: UserDocument): string {
  const kind = /^\$(argon2id?|argon2i|2[aby])\$/.exec(password_hash)?.[1] ?? 'unknown';
  return kind.startsWith('2') ? 'bcrypt' : kind;
}
