import type { RevocationReason } from '@auth-account/stores/documents';

/**
 * For each `reason` of an ended session: the cause, and what an operator says to the user or looks at next, as
 * Markdown.
 */
export const endReasons: Readonly<Record<RevocationReason, readonly [happened: string, next: string]>> = {
  logout: ['a logout of that device, perhaps ordered earlier, while offline', '`trace` (step 3) says when it arrived'],
  revoked_by_user: [
    'another device ended the session, or changed the email address: `trace` names the device, and the list has its login. Or the second factor was switched off or [removed](specification/sign-in.md#lost-second-factor)',
    "if they don't know the device: change the password, which ends all other sessions",
  ],
  revoked_by_provider: [
    'the provider by which that session logged in said so: `trace` has `notice`',
    'use another sign-in method, or allow the app at the provider again',
  ],
  replaced: [
    'a newer login on the same device, also listed',
    'the app was installed again, or two apps share a `device_id`',
  ],
  session_limit: ['a 51st login ended the session unused for longest', ''],
  refresh_token_reuse: [
    "a revoked refresh token was sent, by a copy of the app's storage, a restored backup, or a thief",
    "`refresh.stolen` of the audit log has the sender's network",
  ],
  forced: [
    "an operator or another service: `trace` has `why` for 7 days. Or an operator removed sign-in methods: the audit log's `account.ways_removed`",
    '',
  ],
  password_changed: [
    'a change of password (`trace` names the device), a reset, an undone change of the email address, or an operator who made the password unusable',
    "the audit log's line of this request: `account.password_changed`, `account.password_reset`, `account.password_voided` …",
  ],
  account_disabled: [
    "an operator disabled the account: `trace` has `why` and `by` until it is enabled again, the audit log's `account.disabled` for longer",
    '',
  ],
  account_deleted: [
    'the deletion was ordered: `trace` names the device, if there was one',
    'until then a login says when the deletion comes, and the app offers a restore (`auth/restore`)',
  ],
};
