import { createAccountEvent, eventOrigin } from '@auth-account/messaging';
import { passwordChangedEvents } from '@auth-account/messaging/account-events';
import type { InviteStore, PresentUser, UserStore } from '@auth-account/stores';
import type { ChallengeStore } from '@auth-account/stores/challenges';
import { countsAnew, passwordFields } from '@auth-account/stores/credentials';
import { voidHash } from '@auth-account/stores/void-hash';
import type { ClientSession } from 'mongodb';
import type { Ids } from '../../request/ids.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';
import { ChangedMeanwhile } from '../codes/change-by-code.ts';
import { lossBy } from '../credentials/loss-by.ts';
import type { EndSessions } from '../sessions/end-sessions.ts';
import type { UsedProof } from './open-session.ts';

export interface ProveAddressDeps {
  readonly users: Pick<UserStore, 'recover'>;
  readonly invites: Pick<InviteStore, 'revokeMadeBy'>;
  readonly challenges: Pick<ChallengeStore, 'endAll'>;
  readonly endSessions: EndSessions;
  readonly ids: Pick<Ids, 'entityId'>;
}

/** A login that proves the address of its account for the first time. */
export interface FirstProof {
  readonly user: PresentUser;
  /** The name by which the account knows the device. */
  readonly device: string;
  readonly at: Date;
}

/** Verifies the account's address in the transaction of a login: see {@link createProveAddress}. */
export type ProveAddress = (proof: FirstProof, origin: RequestOrigin, session: ClientSession) => Promise<UsedProof>;

/**
 * Creates the step of a login that proves the account's address for the first time. Somebody else may have registered
 * the account. So, as a reset does, it removes all other ways in, ends all sessions and open codes, and revokes the open
 * invites. The password becomes void until a reset. Raises {@link ChangedMeanwhile} if the address has been proved since
 * the account was read, or a way in was changed.
 */
export function createProveAddress(deps: ProveAddressDeps): ProveAddress {
  const { users, invites, challenges, endSessions, ids } = deps;

  return async ({ user, device, at }, origin, session) => {
    const { _id: user_id } = user;
    const nextOrigin = () => eventOrigin(origin, at, ids);
    const loss = lossBy(user, 'all', nextOrigin);
    const fields = {
      ...passwordFields(voidHash(user.password_hash), user, at, true),
      ...countsAnew(user, at, user.created_at),
      known_devices: [device],
      email_verified_at: at,
    };
    const removed = await users.recover(user, { ...loss, fields, at }, session);
    if (removed === undefined) throw new ChangedMeanwhile();
    const lost = loss.announce(removed);
    await challenges.endAll(user_id, at, session);
    const invites_revoked = await invites.revokeMadeBy(user_id, at, session);
    const ended = await endSessions.revoke({ userId: user_id, reason: 'password_changed', at }, origin, session);
    const change = { user_id, reason: 'login', locale: mailLocale(user, origin), invites_revoked } as const;
    const verified = { user_id, verified_at: at.toISOString() };
    return {
      events: [
        ...passwordChangedEvents(change, nextOrigin),
        createAccountEvent('service.auth.events.email_verified', verified, nextOrigin()),
        ...lost.events,
      ],
      audit: [{ event: 'account.address_proved', user_id, invites_revoked }, ...lost.audit],
      sessions: [ended],
      user: { ...user, ...fields, passkeys: [], identities: [] },
    };
  };
}
