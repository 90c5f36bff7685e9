import { codeLifeSeconds } from '@auth-account/contracts/http/challenges';
import type { TokenResponse } from '@auth-account/contracts/http/login';
import type { LogInByCodeRequest } from '@auth-account/contracts/http/login-code';
import { createAccountEvent, eventOrigin } from '@auth-account/messaging';
import { passwordChangedEvents } from '@auth-account/messaging/account-events';
import type { InviteStore, UserStore } from '@auth-account/stores';
import type { ChallengeStore } from '@auth-account/stores/challenges';
import { countsAnew, passwordFields } from '@auth-account/stores/credentials';
import { unusableHash } from '@auth-account/stores/unusable-hash';
import { ChangedMeanwhile } from '../../announcements/retry-if-changed.ts';
import type { Limits } from '../../limits/limits.ts';
import type { Ids } from '../../request/ids.ts';
import { mailLocale, type RequestOrigin } from '../../request/request-origin.ts';
import { type CheckCode, changeByCode } from '../codes/check-code.ts';
import { lossBy } from '../credentials/loss-by.ts';
import { deviceOfProof, type OncePerChallenge } from '../proofs/once-per-proof.ts';
import { codeInvalid } from '../proofs/use-proof.ts';
import type { EndSessions } from '../sessions/end-sessions.ts';
import type { CompleteLogin } from './complete-login.ts';
import type { ProveEmail } from './proved-login.ts';

export interface LogInByCodeDeps {
  readonly checkCode: CheckCode;
  readonly oncePerChallenge: OncePerChallenge;
  readonly completeLogin: CompleteLogin;
  readonly limits: Pick<Limits, 'tryCode'>;
  readonly now: () => Date;
}

/**
 * Logs a user in by a code from the account's mailbox (docs/specification/sign-in.md, "A code by e-mail"). If a second
 * factor must follow, that step uses the code up. If the email address was never verified, the login verifies it: see
 * {@link createProveEmail}.
 *
 * Raises `ERR-RATE-LIMITED`, the errors of {@link CheckCode} and {@link CompleteLogin}, and `ERR-CODE-EXPIRED` if the
 * code was used.
 */
export function createLogInByCode({ checkCode, oncePerChallenge, completeLogin, limits, now }: LogInByCodeDeps) {
  return async (input: LogInByCodeRequest, origin: RequestOrigin): Promise<TokenResponse['data']> => {
    await limits.tryCode(origin);
    const id = input.challenge_id.toLowerCase();
    const proof = ['email_code', input.code, ...deviceOfProof(input.device_id, origin)];
    // No code that is open now counts for longer.
    const challengeUse = { id, proof, until: new Date(now().getTime() + codeLifeSeconds * 1_000) };
    const logIn = async () => {
      const check = () => checkCode('login', input, origin);
      const { data } = await changeByCode(check, (code) =>
        completeLogin(
          {
            ...{ seen: code.user, device: input, proof: code, challengeUses: [challengeUse] },
            ...({ method: 'email_code', auth: { amr: ['otp'], acr: '1' } } as const),
            // The change of a sign-in method ends all codes.
            ifChanged: codeInvalid,
          },
          origin,
        ),
      );
      return data;
    };
    return oncePerChallenge(challengeUse, logIn, origin);
  };
}

export interface ProveEmailDeps {
  readonly users: Pick<UserStore, 'recover'>;
  readonly invites: Pick<InviteStore, 'revokeMadeBy'>;
  readonly challenges: Pick<ChallengeStore, 'endAll'>;
  readonly endSessions: EndSessions;
  readonly ids: Pick<Ids, 'entityId'>;
}

/**
 * Takes back, at a login, an account whose email address was never proved. Somebody else may have registered the
 * account. So, as a reset does, it removes all other sign-in methods, ends all sessions and open codes, and revokes the
 * open invites. The password becomes unusable until a reset. Raises {@link ChangedMeanwhile} if the email address has
 * been proved since the account was read, or a sign-in method was changed.
 */
export function createProveEmail(deps: ProveEmailDeps): ProveEmail {
  const { users, invites, challenges, endSessions, ids } = deps;

  return async ({ user, device, at }, origin, session) => {
    const { _id: user_id } = user;
    const nextOrigin = () => eventOrigin(origin, at, ids);
    const loss = lossBy(user, 'all', nextOrigin);
    const fields = {
      ...passwordFields(unusableHash(user.password_hash), user, at, true),
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
      ended,
      user: { ...user, ...fields, passkeys: [], identities: [] },
    };
  };
}
