import { readProcessReports } from '@auth-account/messaging/process-reports';
import type { AccountCounts } from '@auth-account/redis';
import { challengeState } from '@auth-account/stores/challenges';
import type { UserDocument } from '@auth-account/stores/documents';
import { trustedDevicesOf } from '@auth-account/stores/second-factors';
import { loadAccount } from '../accounts/load-account.ts';
import { hashKindOf } from '../accounts/show-account.ts';
import { countsOf, type UseCounts } from '../accounts/support-account.ts';
import type { Mongo } from '../context.ts';
import { OperationError } from '../operation-error.ts';
import { describeSession, listEnded, readUnrevoked, type SessionsContext } from './ended-sessions.ts';
import { describeInvite } from './group-view.ts';
import { judgeLogins, type LoginRules, wrongFactorsOf } from './login-obstacles.ts';
import { maskEmail } from './mask-email.ts';
import { listMessages } from './messages.ts';

export interface AccountViewContext extends SessionsContext, Pick<Mongo, 'stores'> {
  readonly useCounts: UseCounts;
}

/** Limits for what one view shows. The limits of the api keep both below. */
const [maxInvites, maxChallenges] = [50, 100];

/** Finds an account by its id alone. Throws an `OperationError` of the kind `unknown` if there is none. */
export async function loadAccountById({ collections }: Pick<Mongo, 'collections'>, userId: string) {
  if (userId.includes('@')) throw new OperationError('unknown', 'There is no user with that id.');
  return loadAccount(collections, userId);
}

/**
 * Returns everything about an account that answers the usual questions of support, with a masked email address. It has
 * no token, hash or code. Throws an `OperationError` of the kind `unknown` if there is no such account.
 */
export async function viewAccount(
  context: AccountViewContext,
  userId: string,
  { hasName }: { readonly hasName: boolean },
) {
  const { collections, useCounts, now } = context;
  const user = await loadAccountById(context, userId);
  const [group, unrevoked, messages, challenges, invites, counts, rules] = await Promise.all([
    collections.groups.findOne({ _id: user.home_group_id }),
    readUnrevoked(context, user._id),
    listMessages(context, user._id),
    collections.challenges.find({ user_id: user._id }).limit(maxChallenges).toArray(),
    collections.invites.find({ created_by: user._id }).sort({ created_at: -1 }).limit(maxInvites).toArray(),
    countsOf(useCounts, user),
    readRules(context),
  ]);
  const at = now();
  const live = unrevoked.filter(({ expires_at }) => expires_at > at);
  return {
    ...describeUser(user, hasName),
    verified_email_required: rules.verified_email ?? null,
    group: { id: user.home_group_id, name: group?.name ?? null, members: group?.member_count ?? null },
    methods: describeMethods(user, at),
    limits: 'unknown' in counts ? { known: false as const, why: counts.unknown } : describeCounts(user, counts),
    logins: judgeLogins(user, 'unknown' in counts ? undefined : counts, rules, at),
    sessions: live
      .toSorted((a, b) => b.last_used_at.getTime() - a.last_used_at.getTime())
      .map((session) => ({ ...describeSession(session), expires_at: session.expires_at })),
    ended: await listEnded(context, user, unrevoked),
    messages,
    open_codes: challenges
      .filter((challenge) => challengeState(challenge, at) === 'open')
      .map(({ purpose, created_at, expires_at, tries_left, resends_left, resend_at }) => {
        return { purpose, created_at, expires_at, tries_left, resends_left, resend_at };
      }),
    invites: invites.map((invite) => describeInvite(invite, at)),
  };
}

/** Returns what the running apis say about their rules. If they differ, the stricter one counts. */
async function readRules({ useRedis }: Pick<AccountViewContext, 'useRedis'>): Promise<LoginRules> {
  try {
    const reports = await useRedis(({ redis, keys }) => readProcessReports(redis, keys));
    const all = reports.flatMap(({ rules }) => rules ?? []);
    if (all.length === 0) return {};
    return {
      verified_email: all.some(({ verified_email }) => verified_email),
      wrong_passwords_a_day: Math.min(...all.map(({ wrong_passwords_a_day }) => wrong_passwords_a_day)),
    };
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    return {};
  }
}

function describeUser(user: UserDocument, hasName: boolean) {
  const { pending_email, pending_email_until = null, disabled_at } = user;
  const pending = pending_email === undefined ? null : { email: maskEmail(pending_email), until: pending_email_until };
  const disabled = { at: disabled_at, by: user.disabled_by ?? null, reason: user.disabled_reason ?? null };
  return {
    user_id: user._id,
    email: maskEmail(user.email),
    email_verified_at: user.email_verified_at ?? null,
    pending_email: pending,
    display_name: hasName ? (user.display_name ?? null) : null,
    locale: user.locale ?? null,
    account_type: user.account_type,
    role: user.role,
    created_at: user.created_at,
    joined_at: user.joined_at,
    last_login_at: user.last_login_at ?? null,
    disabled: disabled_at === undefined ? null : { ...disabled, at: disabled_at },
    deletes_at: user.deletes_at ?? null,
  };
}

function describeMethods(user: UserDocument, at: Date) {
  const { totp, passkeys = [], identities = [], recovery_codes = [] } = user;
  const { removal } = totp ?? {};
  return {
    password: hashKindOf(user),
    password_changed_at: user.password_changed_at ?? user.created_at,
    passkeys: passkeys.map(({ id, name, created_at, last_used_at = null }) => ({ id, name, created_at, last_used_at })),
    identities: identities.map(({ id, provider, created_at, disabled_at = null, relay_off_at = null }) => {
      return { id, provider, linked_at: created_at, disabled_at, relay_off_at };
    }),
    second_factor: totp
      ? {
          since: totp.confirmed_at,
          recovery_codes: recovery_codes.length,
          removal: removal ? { due_at: removal.due_at, by: removal.by } : null,
        }
      : null,
    trusted_devices: trustedDevicesOf(user, at).length,
  };
}

function describeCounts(user: UserDocument, counts: AccountCounts) {
  const dates = (times: readonly number[]) => times.slice(0, 20).map((time) => new Date(time));
  const factors = wrongFactorsOf(user, counts);
  return {
    known: true as const,
    tag: counts.tag,
    wrong_passwords: counts.wrongPasswords.unknown,
    wrong_passwords_from_known: counts.wrongPasswords.known,
    wrong_passwords_today: counts.failures.length,
    login_elsewhere_from: counts.loginFrom > 0 ? new Date(counts.loginFrom) : null,
    wrong_factors: factors.unknown,
    wrong_factors_from_known: factors.known,
    factor_tries_elsewhere: dates(counts.factorTries),
    codes_asked_elsewhere: dates(counts.codes),
    known_networks: counts.places,
  };
}

/** Returns the email addresses in full. Throws an `OperationError` of the kind `unknown` if there is no such account. */
export async function viewAddress(context: Pick<Mongo, 'collections'>, userId: string) {
  const { email, pending_email = null } = await loadAccountById(context, userId);
  return { email, pending_email };
}
