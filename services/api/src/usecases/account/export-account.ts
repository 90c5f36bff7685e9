import type { AccountExport, AccountExportResponse, ExportAccountRequest } from '@auth-account/contracts/http/account';
import type { GroupStore, InviteStore, PresentUser, SessionStore } from '@auth-account/stores';
import type { ChallengeStore } from '@auth-account/stores/challenges';
import type { GroupDocument } from '@auth-account/stores/documents';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { Audit } from '../../audit/audit.ts';
import type { Limits } from '../../limits/limits.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import { describeIdentity } from '../federated/identity-lists.ts';
import { describePasskey } from '../passkeys/passkey-lists.ts';
import { sessionAuth } from '../sessions/session-auth.ts';
import { toldReasonOf } from '../sessions/told-reason.ts';
import type { Reauthenticate } from '../step-up/reauthenticate.ts';
import { describeAccount } from './find-account.ts';

export interface ExportAccountDeps {
  readonly groups: Pick<GroupStore, 'find'>;
  readonly sessions: Pick<SessionStore, 'listHeld'>;
  readonly invites: Pick<InviteStore, 'listMadeBy'>;
  readonly challenges: Pick<ChallengeStore, 'listOf'>;
  readonly reauthenticate: Reauthenticate;
  readonly limits: Pick<Limits, 'exportAccount'>;
  readonly audit: Audit;
  readonly now: () => Date;
}

type Held = Awaited<ReturnType<SessionStore['listHeld']>>;
type Codes = Awaited<ReturnType<ChallengeStore['listOf']>>;
type Made = Awaited<ReturnType<InviteStore['listMadeBy']>>;

/** Limit for the ended sessions, and for the invites, in one export. The newest are exported. */
const mostOfAKind = 10_000;

/**
 * Returns all data that is held about the caller, except secrets and hashes, and nothing about other people. Only
 * exports with the right password count for the limit, so that a thief who has a session but not the password can't use
 * the limit up.
 *
 * Raises the errors of {@link Reauthenticate}, and `ERR-RATE-LIMITED`.
 */
export function createExportAccount(deps: ExportAccountDeps) {
  const { groups, sessions, invites, challenges, reauthenticate, limits, audit, now } = deps;

  return async (
    input: ExportAccountRequest,
    caller: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<AccountExportResponse['data']> => {
    const user = await reauthenticate(input, caller, origin, 'export');
    await limits.exportAccount(user, origin);
    const [group, held, made, codes] = await Promise.all([
      groups.find(user.home_group_id),
      sessions.listHeld(user._id, mostOfAKind),
      invites.listMadeBy(user._id, mostOfAKind),
      challenges.listOf(user._id),
    ]);
    const at = now();
    audit({ event: 'account.exported', user_id: user._id, session_id: caller.sid }, origin);
    return {
      account: describeHeld(user, at),
      former_emails: (user.former_emails ?? []).map(({ email, until }) => ({ email, undo_until: until.toISOString() })),
      known_devices: [...(user.known_devices ?? [])],
      passkeys: (user.passkeys ?? []).map(describePasskey),
      identities: (user.identities ?? []).map(describeIdentity),
      second_factor: describeFactor(user),
      codes: codes.map(describeCode),
      group: describeGroup(user, group),
      sessions: held.sessions.map(describeSession),
      invites: made.invites.map(describeInvite),
      is_complete: !held.hasMore && !made.hasMore,
      timestamp: at.toISOString(),
    };
  };
}

/** Describes the account, including the fields that apps do not get, and a lapsed address that is still stored. */
function describeHeld(user: PresentUser, at: Date): AccountExport['account'] {
  const { email_verified_at, pending_email = null, pending_email_until, last_login_at } = user;
  return {
    ...describeAccount(user, at),
    email_verified_at: email_verified_at?.toISOString() ?? null,
    pending_email,
    pending_email_until: pending_email_until?.toISOString() ?? null,
    last_login_at: last_login_at?.toISOString() ?? null,
  };
}

function describeFactor({
  totp,
  recovery_codes = [],
  trusted_devices = [],
}: PresentUser): AccountExport['second_factor'] {
  return {
    confirmed_at: totp?.confirmed_at.toISOString() ?? null,
    recovery_codes_left: recovery_codes.length,
    removal_due_at: totp?.removal?.due_at.toISOString() ?? null,
    trusted_devices: trusted_devices.map(({ device_id, trusted_at, until }) => ({
      device_id,
      trusted_at: trusted_at.toISOString(),
      trusted_until: until.toISOString(),
    })),
  };
}

function describeGroup(user: PresentUser, group: GroupDocument | undefined): AccountExport['group'] {
  const { home_group_id, account_type, role, joined_at } = user;
  return { home_group_id, name: group?.name ?? null, account_type, role, joined_at: joined_at.toISOString() };
}

function describeSession(session: Held['sessions'][number]): AccountExport['sessions'][number] {
  const { at, amr } = sessionAuth(session);
  return {
    session_id: session._id,
    device_id: session.device_id,
    device_name: session.device_name,
    platform: session.platform,
    home_group_id: session.claims.home_group_id,
    created_at: session.created_at.toISOString(),
    authenticated_at: at.toISOString(),
    amr: [...amr],
    last_used_at: session.last_used_at.toISOString(),
    expires_at: session.expires_at.toISOString(),
    bound: session.cnf !== undefined,
    ended_at: session.revoked_at?.toISOString() ?? null,
    end_reason: toldReasonOf(session.revoked_reason) ?? null,
  };
}

function describeCode({ purpose, created_at, expires_at }: Codes[number]): AccountExport['codes'][number] {
  return { purpose, created_at: created_at.toISOString(), expires_at: expires_at.toISOString() };
}

/** Describes an invite without its token, because the token lets its holder join. */
function describeInvite(invite: Made['invites'][number]): AccountExport['invites'][number] {
  return {
    home_group_id: invite.home_group_id,
    created_at: invite.created_at.toISOString(),
    expires_at: invite.expires_at.toISOString(),
    max_uses: invite.max_uses,
    uses: invite.uses,
    revoked_at: invite.revoked_at?.toISOString() ?? null,
  };
}
