import type { IdentityDocument, UserDocument } from '@auth-account/stores/documents';
import type { Mongo } from '../context.ts';
import { loadAccount } from './load-account.ts';
import { limitsOf, type UseCounts } from './support-account.ts';

/**
 * Returns the account, its group, its number of sessions and its limits; never the hash. Throws an `OperationError` of
 * the kind `unknown` if there is no such account.
 */
export async function showAccount(
  { collections, now, useCounts }: Pick<Mongo, 'collections' | 'now'> & { readonly useCounts: UseCounts },
  idOrEmail: string,
) {
  const user = await loadAccount(collections, idOrEmail);
  const live = { user_id: user._id, is_revoked: false, expires_at: { $gt: now() } };
  const [group, sessions, limits] = await Promise.all([
    collections.groups.findOne({ _id: user.home_group_id }),
    collections.sessions.countDocuments(live),
    limitsOf(useCounts, user),
  ]);
  return {
    user_id: user._id,
    email: user.email,
    email_verified_at: user.email_verified_at ?? null,
    pending_email: user.pending_email ?? null,
    display_name: user.display_name ?? null,
    locale: user.locale ?? null,
    password: hashKindOf(user),
    passkeys: user.passkeys?.length ?? 0,
    identities: user.identities?.map(describeIdentity) ?? [],
    ...describeFactor(user),
    home_group_id: user.home_group_id,
    account_type: user.account_type,
    role: user.role,
    created_at: user.created_at,
    joined_at: user.joined_at,
    last_login_at: user.last_login_at ?? null,
    password_changed_at: user.password_changed_at ?? user.created_at,
    disabled_at: user.disabled_at ?? null,
    disabled_by: user.disabled_by ?? null,
    disabled_reason: user.disabled_reason ?? null,
    deletes_at: user.deletes_at ?? null,
    group_name: group?.name ?? null,
    group_members: group?.member_count ?? null,
    live_sessions: sessions,
    ...limits,
  };
}

/** Returns the provider and what is known of the identity: `apple (revocable, relay off)`. */
function describeIdentity({ provider, refresh_token, relay_off_at, disabled_at }: IdentityDocument): string {
  const notes = [refresh_token && 'revocable', relay_off_at && 'relay off', disabled_at && 'disabled'].filter(Boolean);
  return notes.length === 0 ? provider : `${provider} (${notes.join(', ')})`;
}

function describeFactor({ totp, recovery_codes = [] }: UserDocument) {
  const { removal } = totp ?? {};
  return {
    second_factor_since: totp?.confirmed_at ?? null,
    recovery_codes: recovery_codes.length,
    second_factor_removal_due_at: removal?.due_at ?? null,
    second_factor_removal_by: removal?.by ?? null,
  };
}

/**
 * Returns the algorithm of the password's hash, such as `argon2id` or `bcrypt`, and nothing of the hash itself; `void` if
 * nobody knows the password.
 */
export function hashKindOf({ password_hash, is_password_void = false }: UserDocument): string {
  if (is_password_void) return 'void';
  const kind = /^\$(argon2id?|argon2i|2[aby])\$/.exec(password_hash)?.[1] ?? 'unknown';
  return kind.startsWith('2') ? 'bcrypt' : kind;
}
