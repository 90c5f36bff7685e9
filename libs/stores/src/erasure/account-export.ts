import type { PresentUser } from '../account/present-user.ts';
import type { ChallengeStore } from '../challenge/challenge-store.ts';
import type { GroupDocument, IdentityDocument, PasskeyDocument } from '../documents.ts';
import type { GroupStore } from '../group/group-store.ts';
import type { InviteStore } from '../group/invite-store.ts';
import { recordedReasonOf } from '../session/recorded-reason.ts';
import { sessionAuth } from '../session/session-auth.ts';
import type { SessionStore } from '../session/session-store.ts';

type Held = Awaited<ReturnType<SessionStore['listHeld']>>;
type Codes = Awaited<ReturnType<ChallengeStore['listOf']>>;
type Made = Awaited<ReturnType<InviteStore['listMadeBy']>>;

/** Limit for the ended sessions, and for the invites, in one export. The newest are exported. */
const maxOfAKind = 10_000;

/** The stores that an export reads. */
export interface ExportStores {
  readonly groups: Pick<GroupStore, 'find'>;
  readonly sessions: Pick<SessionStore, 'listHeld'>;
  readonly invites: Pick<InviteStore, 'listMadeBy'>;
  readonly challenges: Pick<ChallengeStore, 'listOf'>;
}

/** Returns all data that is held about the person, except secrets and hashes, and nothing about other people. */
export async function exportAccount(
  { groups, sessions, invites, challenges }: ExportStores,
  user: PresentUser,
  now: () => Date,
) {
  const [group, held, made, codes] = await Promise.all([
    groups.find(user.home_group_id),
    sessions.listHeld(user._id, maxOfAKind),
    invites.listMadeBy(user._id, maxOfAKind),
    challenges.listOf(user._id),
  ]);
  const at = now();
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
}

/** Returns the account as its owner sees it. Documents that earlier versions wrote lack the optional fields. */
export function describeAccount(user: PresentUser, now: Date) {
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
    has_password: user.is_password_void !== true,
  };
}

/** Describes a passkey for its owner. */
export function describePasskey({ id, name, is_backed_up, created_at, last_used_at }: PasskeyDocument) {
  return {
    passkey_id: id,
    name,
    backed_up: is_backed_up,
    created_at: created_at.toISOString(),
    last_used_at: last_used_at?.toISOString() ?? null,
  };
}

/** Returns the identity in the form that its owner gets. */
export function describeIdentity(identity: IdentityDocument) {
  const { id, provider, email, relay_off_at, disabled_at, created_at } = identity;
  return {
    identity_id: id,
    provider,
    email: email ?? null,
    relay_off: relay_off_at !== undefined,
    disabled: disabled_at !== undefined,
    created_at: created_at.toISOString(),
  };
}

/**
 * Describes the account, including the fields that apps do not get, and a lapsed email address that is still stored.
 */
function describeHeld(user: PresentUser, at: Date) {
  const { email_verified_at, pending_email = null, pending_email_until, last_login_at } = user;
  return {
    ...describeAccount(user, at),
    email_verified_at: email_verified_at?.toISOString() ?? null,
    pending_email,
    pending_email_until: pending_email_until?.toISOString() ?? null,
    last_login_at: last_login_at?.toISOString() ?? null,
  };
}

function describeFactor({ totp, recovery_codes = [], trusted_devices = [] }: PresentUser) {
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

function describeGroup(user: PresentUser, group: GroupDocument | undefined) {
  const { home_group_id, account_type, role, joined_at } = user;
  return { home_group_id, name: group?.name ?? null, account_type, role, joined_at: joined_at.toISOString() };
}

function describeSession(session: Held['sessions'][number]) {
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
    end_reason: recordedReasonOf(session.revoked_reason) ?? null,
  };
}

function describeCode({ purpose, created_at, expires_at }: Codes[number]) {
  return { purpose, created_at: created_at.toISOString(), expires_at: expires_at.toISOString() };
}

/** Describes an invite without its token, because the token lets its holder join. */
function describeInvite(invite: Made['invites'][number]) {
  return {
    home_group_id: invite.home_group_id,
    created_at: invite.created_at.toISOString(),
    expires_at: invite.expires_at.toISOString(),
    max_uses: invite.max_uses,
    uses: invite.uses,
    revoked_at: invite.revoked_at?.toISOString() ?? null,
  };
}
