import { hash } from 'node:crypto';
import type { ProviderNoticeRequest, ProviderNoticeResponse } from '@auth-account/contracts/http/provider-notice';
import { AppError } from '@auth-account/errors';
import { createAccountEvent, eventOrigin } from '@auth-account/messaging';
import { identityUnlinkedEvents } from '@auth-account/messaging/account-events';
import type { ChallengeStore } from '@auth-account/stores/challenges';
import type { IdentityDocument, UserDocument } from '@auth-account/stores/documents';
import type { IdentityMarks, IdentityStore } from '@auth-account/stores/identities';
import type { SpentProofStore } from '@auth-account/stores/spent-proofs';
import type { ClientSession } from 'mongodb';
import { type Commit, none, type Outcome } from '../../announcements/commit.ts';
import type { Audit } from '../../audit/audit.ts';
import type { Limits } from '../../limits/limits.ts';
import type { Ids } from '../../request/ids.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';
import {
  type NoticeEvent,
  type NoticeKind,
  noticeSeconds,
  type ProviderNotice,
  toleranceSeconds,
  type VerifyNotice,
} from '../../security/providers/provider.ts';
import { ChangedMeanwhile } from '../codes/change-by-code.ts';
import type { EndSessions } from '../sessions/end-sessions.ts';

export interface ReceiveNoticeDeps {
  readonly identities: Pick<IdentityStore, 'findHolder' | 'mark' | 'remove'>;
  readonly challenges: Pick<ChallengeStore, 'endAll'>;
  readonly spentProofs: Pick<SpentProofStore, 'spend' | 'findConfirmed'>;
  /** The check of each provider's notices, by name. */
  readonly notices: ReadonlyMap<string, NoticeReceiver>;
  readonly endSessions: EndSessions;
  readonly limits: Pick<Limits, 'receiveNotice'>;
  readonly audit: Audit;
  readonly commit: Commit;
  readonly ids: Pick<Ids, 'entityId'>;
  readonly now: () => Date;
}

/** Check and form of a provider's notices. */
export interface NoticeReceiver {
  readonly verify: VerifyNotice;
  /** True if it sends security event tokens. Their answer is 202 (RFC 8935). */
  readonly isToken: boolean;
  /** Domains of the addresses that it gives out itself. It may not stop mail to any other address. */
  readonly emailDomains: readonly string[];
}

/** Limit for the tries of a notice that conflicts with simultaneous changes of the account. */
const mostTries = 5;

/** Thrown in the transaction of a notice that has taken effect before. */
class Repeated extends Error {
  override readonly name = 'Repeated';
}

/**
 * Takes a signed notice of a provider about people (docs/specification/sign-in.md, "Notices of providers"). Each event
 * takes effect once, in one transaction. A repeat, and an event about a person whom no account has, get the same answer.
 *
 * Raises `ERR-ROUTE-NOT-FOUND` for a provider that sends no notices, `ERR-IDENTITY-TOKEN-INVALID`, `ERR-RATE-LIMITED`,
 * and `ERR-DEPENDENCY-UNAVAILABLE` while the provider's keys are not there.
 */
export function createReceiveNotice(deps: ReceiveNoticeDeps) {
  const { notices, limits, audit, now } = deps;
  const apply = createApply(deps);

  return async (
    provider: string,
    { payload }: ProviderNoticeRequest,
    origin: RequestOrigin,
  ): Promise<ReceivedNotice> => {
    const receiver = notices.get(provider);
    if (receiver === undefined) throw new AppError('ERR-ROUTE-NOT-FOUND');
    await limits.receiveNotice(origin);
    const notice = await receiver.verify(payload);
    if (notice === undefined) {
      audit({ event: 'provider_notice.refused', provider, reason: 'forged' }, origin);
      throw new AppError('ERR-IDENTITY-TOKEN-INVALID');
    }
    for (const [at, event] of notice.events.entries()) {
      const id = hash('sha256', JSON.stringify(['notice', provider, notice.id, at]), 'base64url');
      const { signedAt } = notice;
      await apply({ ...event, provider, id, signedAt, emailDomains: receiver.emailDomains }, origin);
    }
    const data = { message: 'NOTICE_RECEIVED', timestamp: now().toISOString() } as const;
    return { data, isAccepted: receiver.isToken };
  };
}

interface ReceivedNotice {
  readonly data: ProviderNoticeResponse['data'];
  readonly isAccepted: boolean;
}

interface ReceivedEvent extends NoticeEvent, Pick<ProviderNotice, 'signedAt'>, Pick<NoticeReceiver, 'emailDomains'> {
  readonly provider: string;
  /** Hash of the notice's id and the event's place in it. */
  readonly id: string;
}

/** Creates the function that lets an event take effect once. */
function createApply(deps: ReceiveNoticeDeps) {
  const { identities, spentProofs, endSessions, commit, now } = deps;
  const change = createChange(deps);

  async function tryOnce(event: ReceivedEvent, origin: RequestOrigin): Promise<void> {
    const { id, provider, sub, signedAt } = event;
    const at = now();
    const user = sub === undefined ? undefined : await identities.findHolder({ provider, sub });
    const identity = user?.identities?.find((each) => each.provider === provider && each.sub === sub);
    const until = new Date(signedAt.getTime() + (noticeSeconds + toleranceSeconds + 1) * 1_000);
    const spent = { _id: id, proof: id, at, until };
    await commit(
      {
        ...(user && endSessions.turnOf(user._id)),
        at,
        isCommitted: async () => (await spentProofs.findConfirmed(id)) !== undefined,
        ifClientLeft: 'commit',
        async work(session) {
          if (!(await spentProofs.spend(spent, session))) throw new Repeated();
          const told = { event: 'provider_notice.received', provider, notice: event.kind } as const;
          if (user === undefined || identity === undefined) {
            return { events: none, audit: [{ ...told, user_id: undefined, identity_id: undefined }], sessions: none };
          }
          const outcome = await change[effectOf(event, identity)]?.({ user, identity, at, signedAt, origin }, session);
          const audit = { ...told, user_id: user._id, identity_id: identity.id };
          return { events: none, sessions: none, ...outcome, audit: [audit, ...(outcome?.audit ?? none)] };
        },
      },
      origin,
    );
  }

  return async (event: ReceivedEvent, origin: RequestOrigin): Promise<void> => {
    for (let tries = 0; tries < mostTries; tries += 1) {
      try {
        return await tryOnce(event, origin);
      } catch (error) {
        if (error instanceof Repeated) return;
        if (!(error instanceof ChangedMeanwhile)) throw error;
      }
    }
    throw new AppError('ERR-DEPENDENCY-UNAVAILABLE', { retryAfterSeconds: 1 });
  };
}

/** Notices of a state. Of those that come in another order than they were signed, the last signed one counts. */
const stateKinds: readonly NoticeKind[] = [
  'account_disabled',
  'account_hijacked',
  'account_enabled',
  'relay_off',
  'relay_on',
];

/**
 * Returns the notice that takes effect: none for mail to an address that another provider has given out, and none for a
 * state that was overtaken by a later one. Sessions from before an account was taken over end also then.
 */
function effectOf({ kind, signedAt, emailDomains }: ReceivedEvent, identity: IdentityDocument): NoticeKind {
  const { email = '', noticed_at } = identity;
  const isOvertaken = stateKinds.includes(kind) && noticed_at !== undefined && signedAt < noticed_at;
  if (isOvertaken) return kind === 'account_hijacked' ? 'sessions_revoked' : 'other';
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase();
  return kind.startsWith('relay') && !emailDomains.includes(domain) ? 'other' : kind;
}

interface Concerned {
  readonly user: UserDocument;
  readonly identity: IdentityDocument;
  readonly at: Date;
  readonly signedAt: Date;
  readonly origin: RequestOrigin;
}

type ChangeBy = (of: Concerned, session: ClientSession) => Promise<Partial<Outcome>>;

/** Creates the writes of each kind of notice. They throw {@link ChangedMeanwhile} if the account was changed since it was read. */
function createChange(deps: ReceiveNoticeDeps): Partial<Record<NoticeKind, ChangeBy>> {
  const { identities, challenges, endSessions, ids } = deps;

  async function endAll({ user, at, origin }: Concerned, session: ClientSession) {
    await challenges.endAll(user._id, at, session);
    return [await endSessions.revoke({ userId: user._id, reason: 'revoked_by_user', at }, origin, session)];
  }

  const marking =
    (marksAt: (at: Date, noticed_at: Date) => IdentityMarks): ChangeBy =>
    async ({ user, identity, at, signedAt }, session) => {
      if (!(await identities.mark(user, identity.id, marksAt(at, signedAt), at, session))) {
        throw new ChangedMeanwhile();
      }
      return {};
    };
  const ending =
    (marksAt: (at: Date, noticed_at: Date) => IdentityMarks): ChangeBy =>
    async (of, session) => {
      await marking((...times) => ({ ...marksAt(...times), endsChallenges: true }))(of, session);
      const { user, at, origin } = of;
      const sessions = await endAll(of, session);
      const notice = { user_id: user._id, purpose: 'provider_notice', locale: mailLocale(user, origin) } as const;
      return {
        sessions,
        events: [createAccountEvent('service.auth.events.notice', notice, eventOrigin(origin, at, ids))],
      };
    };

  return {
    consent_revoked: ending(() => ({ unset: ['refresh_token'] })),
    sessions_revoked: ending(() => ({})),
    account_hijacked: ending((disabled_at, noticed_at) => ({ set: { disabled_at, noticed_at } })),
    account_disabled: marking((disabled_at, noticed_at) => ({
      set: { disabled_at, noticed_at },
      endsChallenges: true,
    })),
    account_enabled: marking((_, noticed_at) => ({ set: { noticed_at }, unset: ['disabled_at'] })),
    relay_off: marking((relay_off_at, noticed_at) => ({ set: { relay_off_at, noticed_at } })),
    relay_on: marking((_, noticed_at) => ({ set: { noticed_at }, unset: ['relay_off_at'] })),
    async account_deleted(of, session) {
      const { user, identity, at, origin } = of;
      if (!(await identities.remove(user, identity.id, at, session))) throw new ChangedMeanwhile();
      const unlinked = { user_id: user._id, identity_id: identity.id, provider: identity.provider };
      const told = { ...unlinked, locale: mailLocale(user, origin) };
      const events = identityUnlinkedEvents(told, () => eventOrigin(origin, at, ids));
      const audit = [{ event: 'identity.unlinked', session_id: undefined, ...unlinked } as const];
      return { events, audit, sessions: await endAll(of, session) };
    },
  };
}
