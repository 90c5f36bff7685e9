import type { CodePurpose } from '@auth-account/contracts/events';
import type { ThrowableCode } from '@auth-account/errors';
import type { RevocationReason } from '@auth-account/stores/documents';
import type { LimitRule } from '../limits/limits-table.ts';

/** Reason for which a right password opens no session. `credentials_changed`: since the password was verified. */
export type LoginRefusal = 'credentials_changed' | 'account_disabled' | 'deletion_scheduled' | 'email_not_verified';

/**
 * Fields of each event, in addition to those of its request. They are ids and numbers only: no secret and no e-mail
 * address may be added.
 */
interface EventFields {
  'account.registered': { readonly user_id: string };
  'login.succeeded': { readonly user_id: string; readonly session_id: string };
  'login.failed': {
    readonly user_id: string | undefined;
    /** `idempotency_key_reused`: a registration whose key is known, but with another password. */
    readonly reason: 'unknown_account' | 'wrong_password' | 'idempotency_key_reused';
  };
  /** The password was right, and opened no session: at a restore, or at a repeated login, which gets its session. */
  'login.verified': { readonly user_id: string; readonly session_id?: string };
  /** The password was right, but the account opens no session. */
  'login.refused': { readonly user_id: string; readonly reason: LoginRefusal };
  /** An operation that asks for the password again got a wrong one. */
  'reauthentication.failed': { readonly user_id: string; readonly session_id: string };
  'account.changed': { readonly user_id: string; readonly session_id: string };
  'account.password_changed': { readonly user_id: string; readonly session_id: string };
  /** Without a session if a code from the mailbox ordered it. */
  'account.deletion_scheduled': { readonly user_id: string; readonly session_id: string | undefined };
  'account.deletion_cancelled': { readonly user_id: string };
  'account.exported': { readonly user_id: string; readonly session_id: string };
  'account.password_reset': { readonly user_id: string; readonly invites_revoked: number };
  'account.email_verified': { readonly user_id: string };
  'account.email_changed': { readonly user_id: string; readonly session_id: string };
  'account.email_change_undone': { readonly user_id: string; readonly invites_revoked: number };
  /** Without a user if the address has no account. */
  'code.requested': { readonly user_id: string | undefined; readonly purpose: CodePurpose };
  'code.resent': { readonly user_id: string | undefined; readonly purpose: CodePurpose };
  'code.failed': {
    readonly user_id: string | undefined;
    readonly purpose: CodePurpose;
    readonly reason: 'wrong' | 'dead' | 'expired' | 'unknown';
  };
  'refresh.rotated': { readonly user_id: string; readonly session_id: string };
  'refresh.converged': { readonly user_id: string; readonly session_id: string };
  'refresh.expired': {
    readonly user_id: string | undefined;
    readonly session_id: string | undefined;
    readonly reason: 'expired' | 'not_genuine';
  };
  'refresh.revoked': { readonly user_id: string; readonly session_id: string };
  'refresh.stolen': { readonly user_id: string; readonly session_id: string };
  'refresh.abandoned': { readonly user_id: string; readonly session_id: string };
  'logout.succeeded': { readonly user_id: string; readonly session_id: string };
  'logout.all': { readonly user_id: string; readonly session_id: string };
  'session.revoked': { readonly user_id: string; readonly session_id: string; readonly reason: RevocationReason };
  'group.joined': { readonly user_id: string; readonly session_id: string; readonly home_group_id: string };
  'group.left': { readonly user_id: string; readonly session_id: string; readonly home_group_id: string };
  'group.removed': {
    readonly user_id: string;
    /** Session of the owner who removed the member. */
    readonly session_id: string;
    readonly home_group_id: string;
    readonly removed_by: string;
  };
  'group.renamed': { readonly user_id: string; readonly session_id: string; readonly home_group_id: string };
  'group.owner_changed': {
    readonly user_id: string;
    readonly home_group_id: string;
    /** The owner who handed the group over, and their session; missing if the owner has left. */
    readonly handed_over_by?: string;
    readonly session_id?: string;
  };
  'group.closed': { readonly user_id: string; readonly home_group_id: string };
  'invite.created': { readonly user_id: string; readonly session_id: string; readonly home_group_id: string };
  'invite.revoked': { readonly user_id: string; readonly session_id: string; readonly home_group_id: string };
  'authorization.failed': {
    /** User of the token, if it was genuine. */
    readonly user_id: string | undefined;
    readonly session_id: string | undefined;
    readonly reason: ThrowableCode;
    /** Template of the route. */
    readonly route: string | undefined;
  };
  'limit.exceeded': { readonly reason: LimitRule };
}

export type AuditEventName = keyof EventFields;

/** One event, by its name. */
export type AuditEvent = { [E in AuditEventName]: { readonly event: E } & EventFields[E] }[AuditEventName];

/** Every event of the audit log; docs/audit.md describes them in the same order. */
export const auditEvents = {
  'account.registered': { outcome: 'success' },
  'login.succeeded': { outcome: 'success' },
  'login.failed': { outcome: 'failure' },
  'login.verified': { outcome: 'success' },
  'login.refused': { outcome: 'failure' },
  'reauthentication.failed': { outcome: 'failure' },
  'account.changed': { outcome: 'success' },
  'account.password_changed': { outcome: 'success' },
  'account.deletion_scheduled': { outcome: 'success' },
  'account.deletion_cancelled': { outcome: 'success' },
  'account.exported': { outcome: 'success' },
  'account.password_reset': { outcome: 'success' },
  'account.email_verified': { outcome: 'success' },
  'account.email_changed': { outcome: 'success' },
  'account.email_change_undone': { outcome: 'success' },
  'code.requested': { outcome: 'success' },
  'code.resent': { outcome: 'success' },
  'code.failed': { outcome: 'failure' },
  'refresh.rotated': { outcome: 'success' },
  'refresh.converged': { outcome: 'success' },
  'refresh.expired': { outcome: 'failure' },
  'refresh.revoked': { outcome: 'failure' },
  'refresh.stolen': { outcome: 'failure' },
  'refresh.abandoned': { outcome: 'failure' },
  'logout.succeeded': { outcome: 'success' },
  'logout.all': { outcome: 'success' },
  'session.revoked': { outcome: 'success' },
  'group.joined': { outcome: 'success' },
  'group.left': { outcome: 'success' },
  'group.removed': { outcome: 'success' },
  'group.renamed': { outcome: 'success' },
  'group.owner_changed': { outcome: 'success' },
  'group.closed': { outcome: 'success' },
  'invite.created': { outcome: 'success' },
  'invite.revoked': { outcome: 'success' },
  'authorization.failed': { outcome: 'failure' },
  'limit.exceeded': { outcome: 'failure' },
} as const satisfies Record<AuditEventName, { readonly outcome: 'success' | 'failure' }>;
