import type { AuthEvent, Locale } from '@auth-account/contracts/events';
import { type AccountEventOrigin, eventOrigin } from '@auth-account/messaging';
import { identityUnlinkedEvents, passkeyRemovedEvents } from '@auth-account/messaging/account-events';
import { countsAnew, nextChangeOfWays } from '@auth-account/stores/credentials';
import type { UserDocument } from '@auth-account/stores/documents';
import type { ClientSession } from 'mongodb';
import { v7 } from 'uuid';
import { CommandError } from '../../cli/command-error.ts';
import type { Outcome, Shell } from '../../cli/shell.ts';
import {
  type AccountChange,
  accountChanged,
  changeAccount,
  describeAccount,
  type OperatorOptions,
} from './change-account.ts';
import { reportChange } from './report-change.ts';

/** The kinds of ways in that the command removes. */
export const kindsOfWays = ['passkeys', 'identities'] as const;
type Kind = (typeof kindsOfWays)[number];

export interface RemoveWaysInOptions extends OperatorOptions {
  readonly only?: Kind | undefined;
  readonly yes?: true | undefined;
}

const reason = 'forced';

/**
 * Removes all passkeys and identities of an account, or all of one kind, because somebody else may have added one. All
 * sessions and open codes of the account end in the same transaction, and so does the trust in its devices. The password
 * and the second factor stay.
 */
export function removeWaysIn(shell: Shell, idOrEmail: string, options: RemoveWaysInOptions): Promise<Outcome> {
  const kinds = options.only === undefined ? kindsOfWays : [options.only];
  const before = async (user: UserDocument) => {
    if (waysOf(user, kinds).length === 0)
      throw new CommandError(`The account ${user._id} has no ${kinds.join(' or ')}.`);
    if (!options.yes) await shell.confirm(questionOf(user, kinds));
  };
  const change = async (made: AccountChange) => {
    const ways = waysOf(made.user, kinds);
    const sessionIds = await write(made, { ways, left: Object.fromEntries(kinds.map((kind) => [kind, []])) });
    for (const { audited } of ways) made.audit({ ...audited, operator_reason: made.reason });
    const counts = countsOf(made.user, kinds);
    const told = { event: 'account.ways_removed', audited: counts, facts: counts, done: `Removed: ${textOf(counts)}.` };
    return reportChange(shell, made, { ...told, sessionIds, reason });
  };
  return changeAccount(shell, idOrEmail, options, { before, change });
}

/** A way in that is to be removed. */
interface Way {
  /** Its record in the audit log. */
  readonly audited: { readonly event: string; readonly [field: string]: string };
  events(locale: Locale, nextOrigin: () => AccountEventOrigin): readonly AuthEvent[];
}

function waysOf({ _id: user_id, passkeys = [], identities = [] }: UserDocument, kinds: readonly Kind[]): Way[] {
  const ofPasskeys = passkeys.map(({ id: passkey_id }): Way => {
    const events: Way['events'] = (locale, next) => passkeyRemovedEvents({ user_id, passkey_id, locale }, next);
    return { audited: { event: 'passkey.removed', passkey_id }, events };
  });
  const ofIdentities = identities.map(({ id: identity_id, provider }): Way => {
    const identity = { identity_id, provider };
    const events: Way['events'] = (locale, next) => identityUnlinkedEvents({ user_id, ...identity, locale }, next);
    return { audited: { event: 'identity.unlinked', ...identity }, events };
  });
  return [...(kinds.includes('passkeys') ? ofPasskeys : []), ...(kinds.includes('identities') ? ofIdentities : [])];
}

interface Removal {
  readonly ways: readonly Way[];
  readonly left: Pick<UserDocument, Kind>;
}

/** Removes the ways in one transaction, and returns the sessions that it has ended. */
function write(made: AccountChange, { ways, left }: Removal): Promise<readonly string[]> {
  const { transaction, stores, user, at, requestId } = made;
  const { _id: userId, pending_email_until, locale = 'en' } = user;
  const nextOrigin = () => eventOrigin({ requestId }, at, { entityId: v7 });
  const events = ways.flatMap((way) => way.events(locale, nextOrigin));
  const lapsed = pending_email_until && { pending_email_until: at };
  const recovered = countsAnew(user, at, user.created_at);
  const fields = { ...left, ways_changed_at: nextChangeOfWays(user, at), ...lapsed, ...recovered };
  const work = async (session: ClientSession) => {
    if (!(await stores.users.changeFresh(user, fields, session))) throw accountChanged(user);
    if (left.identities) await stores.providerRevocations.add(userId, user.identities ?? [], at, session);
    await stores.challenges.endAll(userId, at, session);
    const { ended } = await stores.sessions.revokeOf(userId, { reason, at, requestId }, session);
    for (const event of events) await stores.outbox.append(event, at, session);
    return ended;
  };
  const isCommitted = () => stores.outbox.exists(events[0]?.id ?? '');
  return transaction(work, { isCommitted, hold: stores.sessions.holdOf([userId]) });
}

/** Returns the number of ways of each kind. */
function countsOf(user: UserDocument, kinds: readonly Kind[]): Partial<Record<Kind, number>> {
  return Object.fromEntries(kinds.map((kind) => [kind, user[kind]?.length ?? 0]));
}

function textOf(counts: Partial<Record<Kind, number>>): string {
  return Object.entries(counts)
    .map(([kind, count]) => `${kind} (${count})`)
    .join(', ');
}

function questionOf(user: UserDocument, kinds: readonly Kind[]): string {
  const isLast = user.is_password_void && kindsOfWays.every((kind) => kinds.includes(kind) || !user[kind]?.length);
  const last = isLast ? ' No usable password is left: only a reset by mail lets the holder in.' : '';
  const removed = textOf(countsOf(user, kinds));
  return `Remove ${removed} of the account ${describeAccount(user)}? Its sessions end now.${last}`;
}
