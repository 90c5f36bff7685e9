import { hash } from 'node:crypto';
import type { ProviderNoticeRequest, ProviderNoticeResponse } from '@auth-account/contracts/http/security-event-token';
import { AppError } from '@auth-account/errors';
import { createAccountEvent, eventOrigin } from '@auth-account/messaging';
import { identityUnlinkedEvents } from '@auth-account/messaging/account-events';
import type { PresentUser } from '@auth-account/stores';
import type { ConsumedProofStore } from '@auth-account/stores/consumed-proofs';
import { nextEndOf } from '@auth-account/stores/credentials';
import type { CountedSecurityEvents, IdentityDocument } from '@auth-account/stores/documents';
import type { IdentityMarks, IdentityStore } from '@auth-account/stores/identities';
import type { ClientSession } from 'mongodb';
import { type Commit, none, type Outcome } from '../../announcements/commit.ts';
import type { Audit } from '../../audit/audit.ts';
import type { Limits } from '../../limits/limits.ts';
import type { Ids } from '../../request/ids.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';
import {
  type SecurityEvent,
  type SecurityEventKind,
  SecurityEventRefusal,
  type SecurityEventToken,
  securityEventSeconds,
  toleranceSeconds,
  type VerifySecurityEventToken,
} from '../../security/providers/provider.ts';
import type { EndSessions } from '../sessions/end-sessions.ts';

export interface ReceiveSecurityEventsDeps {
  readonly identities: Pick<IdentityStore, 'findHolder' | 'mark' | 'giveUp'>;
  readonly consumedProofs: Pick<ConsumedProofStore, 'consume' | 'findConfirmed'>;
  /** Verifies each provider's security event tokens, by name. */
  readonly notices: ReadonlyMap<string, SecurityEventReceiver>;
  readonly endSessions: EndSessions;
  readonly limits: Pick<Limits, 'receiveSecurityEvents'>;
  readonly audit: Audit;
  readonly commit: Commit;
  readonly ids: Pick<Ids, 'entityId'>;
  readonly now: () => Date;
}

/** Verification and form of a provider's security event tokens. */
export interface SecurityEventReceiver {
  readonly verify: VerifySecurityEventToken;
  /** Domains of the email addresses that it gives out itself. It may not stop mail to any other one. */
  readonly emailDomains: readonly string[];
}

/** Limit for the security events about one identity that take effect in a day, which begins with the first. */
const maxSecurityEvents = 10;
const securityEventDayMs = 86_400_000;

/** Thrown in the transaction of a security event that has taken effect before. */
class Repeated extends Error {
  override readonly name = 'Repeated';
}

/**
 * Takes a signed security event token of a provider (docs/specification/sign-in.md, "Notices of providers"). Each event
 * takes effect once, in one transaction, on what the identity has opened. A repeat, an event about a person whom no
 * account has, and one past the limit of the identity get the same answer.
 *
 * Raises `ERR-ROUTE-NOT-FOUND` for a provider that sends no security events, `ERR-IDENTITY-TOKEN-INVALID`,
 * `ERR-RATE-LIMITED`, and `ERR-DEPENDENCY-UNAVAILABLE` while the provider's keys are not there.
 */
export function createReceiveSecurityEvents(deps: ReceiveSecurityEventsDeps) {
  const { notices, limits, audit, now } = deps;
  const apply = createApply(deps);

  return async (
    provider: string,
    { payload }: ProviderNoticeRequest,
    origin: RequestOrigin,
  ): Promise<ProviderNoticeResponse['data']> => {
    const receiver = notices.get(provider);
    if (receiver === undefined) throw new AppError('ERR-ROUTE-NOT-FOUND');
    await limits.receiveSecurityEvents(origin);
    const notice = await receiver.verify(payload);
    if (typeof notice === 'string') {
      const refused = { user_id: undefined, identity_id: undefined, provider, reason: notice } as const;
      audit({ event: 'provider_notice.refused', ...refused }, origin);
      throw new AppError('ERR-IDENTITY-TOKEN-INVALID', { cause: new SecurityEventRefusal(notice) });
    }
    for (const [at, event] of notice.events.entries()) {
      const id = hash('sha256', JSON.stringify(['notice', provider, notice.id, at]), 'base64url');
      const { signedAt } = notice;
      await apply({ ...event, provider, id, signedAt, emailDomains: receiver.emailDomains }, origin);
    }
    return { message: 'NOTICE_RECEIVED', timestamp: now().toISOString() };
  };
}

interface ReceivedEvent
  extends SecurityEvent,
    Pick<SecurityEventToken, 'signedAt'>,
    Pick<SecurityEventReceiver, 'emailDomains'> {
  readonly provider: string;
  /** Hash of the token's id and the event's index in it. */
  readonly id: string;
}

/** Lets an event take effect once. */
function createApply(deps: ReceiveSecurityEventsDeps) {
  const { identities, consumedProofs, audit, commit, now } = deps;
  const change = createChange(deps);
  const turnOf = createTurnOf(deps);

  /** Finds the account as it is now, and what the event changes of it. */
  async function find({ provider, sub, ...event }: ReceivedEvent, at: Date, session?: ClientSession) {
    const user = sub === undefined ? undefined : await identities.findHolder({ provider, sub }, session);
    const identity = user?.identities?.find((each) => each.provider === provider && each.sub === sub);
    if (user === undefined || identity === undefined) return;
    const kind = effectOf(event, identity);
    const notices = countSecurityEvent(identity, at);
    return { user, identity, kind, notices, isOver: notices.count > maxSecurityEvents && !isLasting(kind, identity) };
  }

  return async (event: ReceivedEvent, origin: RequestOrigin): Promise<void> => {
    const { id, provider, signedAt } = event;
    const at = now();
    const seen = await find(event, at);
    const notified =
      event.ignored === undefined
        ? ({ event: 'provider_notice.received', provider, notice: event.kind } as const)
        : ({ event: 'provider_notice.ignored', provider, reason: event.ignored } as const);
    const refused = ({ user, identity }: Pick<Concerned, 'user' | 'identity'>) =>
      ({
        event: 'provider_notice.refused',
        reason: 'too_many',
        user_id: user._id,
        identity_id: identity.id,
        provider,
      }) as const;
    // Before the turn of the account, so that a flood holds up nothing.
    if (seen?.isOver) return audit(refused(seen), origin);
    const until = new Date(signedAt.getTime() + (securityEventSeconds + toleranceSeconds + 1) * 1_000);
    const consumed = { _id: id, proof: id, at, until };
    const work = async (session: ClientSession) => {
      if (!(await consumedProofs.consume(consumed, session))) throw new Repeated();
      const of = await find(event, at, session);
      if (of?.isOver) return { events: none, audit: [refused(of)], sessions: none };
      const outcome = of && (await change[of.kind]?.({ ...of, at, signedAt, origin }, session));
      const audited = { ...notified, user_id: of?.user._id, identity_id: of?.identity.id };
      return { events: none, sessions: none, ...outcome, audit: [audited, ...(outcome?.audit ?? none)] };
    };
    const isCommitted = async () => (await consumedProofs.findConfirmed(id)) !== undefined;
    await commit({ ...turnOf(seen), at, isCommitted, ifClientLeft: 'commit', work }, origin).catch((error: unknown) => {
      if (!(error instanceof Repeated)) throw error;
    });
  };
}

/** Returns the turn of an event. Only one that ends sessions keeps refreshes away. */
function createTurnOf({ endSessions }: ReceiveSecurityEventsDeps) {
  return (seen: Pick<Concerned, 'user' | 'kind'> | undefined) => {
    if (seen === undefined) return {};
    return endingKinds.includes(seen.kind) ? endSessions.turnOf(seen.user._id) : { lockKey: seen.user._id };
  };
}

/** Returns the count of the identity's security events with one more. */
function countSecurityEvent({ notices }: IdentityDocument, at: Date): CountedSecurityEvents {
  const isSameDay = notices !== undefined && at.getTime() < notices.since.getTime() + securityEventDayMs;
  return isSameDay ? { ...notices, count: notices.count + 1 } : { since: at, count: 1, is_told: false };
}

/**
 * Returns true for a security event that takes effect however many came before: one after which nobody can sign in by
 * the identity. Of these there is one until the identity is enabled or linked anew, which both are counted.
 */
function isLasting(kind: SecurityEventKind, { disabled_at }: IdentityDocument): boolean {
  if (kind === 'account_deleted') return true;
  return (kind === 'account_disabled' || kind === 'account_hijacked') && disabled_at === undefined;
}

/**
 * Security events of a state. Of those that come in another order than they were signed, the last signed one counts.
 */
const stateKinds: readonly SecurityEventKind[] = [
  'account_disabled',
  'account_hijacked',
  'account_enabled',
  'relay_off',
  'relay_on',
];

/**
 * Returns the security event that takes effect: none for mail to an email address that another provider has given out,
 * and none for a state that was overtaken by a later one. Sessions from before an account was taken over end also then.
 */
function effectOf(
  { kind, signedAt, emailDomains }: Pick<ReceivedEvent, 'kind' | 'signedAt' | 'emailDomains'>,
  identity: IdentityDocument,
): SecurityEventKind {
  const { email = '', noticed_at } = identity;
  const isOvertaken = stateKinds.includes(kind) && noticed_at !== undefined && signedAt < noticed_at;
  if (isOvertaken) return kind === 'account_hijacked' ? 'sessions_revoked' : 'other';
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase();
  return kind.startsWith('relay') && !emailDomains.includes(domain) ? 'other' : kind;
}

/** Security events that end sessions. */
const endingKinds: readonly SecurityEventKind[] = [
  'consent_revoked',
  'sessions_revoked',
  'account_hijacked',
  'account_deleted',
];

interface Concerned {
  readonly user: PresentUser;
  readonly identity: IdentityDocument;
  /** The security event that takes effect. */
  readonly kind: SecurityEventKind;
  /** The count with this one. */
  readonly notices: CountedSecurityEvents;
  readonly at: Date;
  readonly signedAt: Date;
  readonly origin: RequestOrigin;
}

type ChangeBy = (of: Concerned, session: ClientSession) => Promise<Partial<Outcome>>;

/** Writes the effects of each kind of security event. They touch only what the identity has opened and begun. */
function createChange(deps: ReceiveSecurityEventsDeps): Partial<Record<SecurityEventKind, ChangeBy>> {
  const { identities, endSessions, ids } = deps;

  const endOpened = ({ user: { _id: userId }, identity, kind, at, origin }: Concerned, session: ClientSession) =>
    endSessions.revokeOpenedBy(identity, { userId, at, notice: kind }, origin, session);

  const marking =
    (marksOf: (of: Concerned) => Partial<IdentityMarks>): ChangeBy =>
    async (of, session) => {
      const { user, identity, notices } = of;
      const { set, unset } = marksOf(of);
      const marks = { set: { ...set, notices }, ...(unset && { unset }) };
      await identities.mark({ userId: user._id, identity }, marks, set?.ended_at !== undefined, session);
      return {};
    };
  const ending =
    (marksOf: (of: Concerned) => Partial<IdentityMarks>): ChangeBy =>
    async (of, session) => {
      const { user, identity, at, origin } = of;
      // A login at the same time is not missed, because it too writes the user's document.
      const ended = await endOpened(of, session);
      const notifies = ended.sessionIds.length > 0 && !of.notices.is_told;
      const notices = { ...of.notices, is_told: of.notices.is_told || notifies };
      const { set, unset = [] } = marksOf(of);
      await marking(() => ({ set: { ...set, ended_at: nextEndOf(identity, at) }, unset }))({ ...of, notices }, session);
      const notice = {
        ...({ user_id: user._id, purpose: 'provider_notice', provider: identity.provider } as const),
        locale: mailLocale(user, origin),
      };
      const event = createAccountEvent('service.auth.events.notice', notice, eventOrigin(origin, at, ids));
      return { sessions: [ended], events: notifies ? [event] : none };
    };

  return {
    consent_revoked: ending(() => ({ unset: ['refresh_token'] })),
    sessions_revoked: ending(() => ({})),
    account_hijacked: ending(disabling),
    account_disabled: marking(disabling),
    account_enabled: marking(({ signedAt: noticed_at }) => ({ set: { noticed_at }, unset: ['disabled_at'] })),
    relay_off: marking(({ at: relay_off_at, signedAt: noticed_at }) => ({ set: { relay_off_at, noticed_at } })),
    relay_on: marking(({ signedAt: noticed_at }) => ({ set: { noticed_at }, unset: ['relay_off_at'] })),
    async account_deleted(of, session) {
      const { user, identity, at, origin } = of;
      const ended = await endOpened(of, session);
      await identities.giveUp({ userId: user._id, identity }, at, session);
      const unlinked = { user_id: user._id, identity_id: identity.id, provider: identity.provider };
      const notified = { ...unlinked, locale: mailLocale(user, origin) };
      const events = identityUnlinkedEvents(notified, () => eventOrigin(origin, at, ids));
      const audit = [{ event: 'identity.unlinked', session_id: undefined, ...unlinked } as const];
      return { events, audit, sessions: [ended] };
    },
  };
}

function disabling({ at: disabled_at, signedAt: noticed_at }: Concerned): Partial<IdentityMarks> {
  return { set: { disabled_at, noticed_at } };
}
