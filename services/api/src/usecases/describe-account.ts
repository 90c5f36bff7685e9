import type { Account } from '@auth-account/contracts/http/account';
import type { UserDocument } from '@auth-account/stores/documents';

/** Returns the account as its owner sees it. Documents of earlier versions lack the optional fields. */
export function describeAccount(user: UserDocument, now: Date): Account {
  const { pending_email = null, pending_email_until } = user;
  return {
    user_id: user._id,
    email: user.email,
    email_verified: user.email_verified_at !== undefined,
    pending_email: pending_email_until !== undefined && pending_email_until > now ? pending_email : null,
    display_name: user.display_name ?? null,
    locale: user.locale ?? null,
    home_group_id: user.home_group_id,
    account_type: user.account_type,
    role: user.role,
    created_at: user.created_at.toISOString(),
    password_changed_at: (user.password_changed_at ?? user.created_at).toISOString(),
  };
}
