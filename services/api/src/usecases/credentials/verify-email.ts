import type { AuthEvent } from '@auth-account/contracts/events';
import type { ConfirmCodeRequest } from '@auth-account/contracts/http/challenges';
import type { EmailVerifiedResponse } from '@auth-account/contracts/http/email-verification';
import { createAccountEvent, eventOrigin } from '@auth-account/messaging';
import type { OutboxStore, RunTransaction, UserStore } from '@auth-account/stores';
import type { ClientSession } from 'mongodb';
import type { Audit } from '../../audit/audit.ts';
import type { Limits } from '../../limits/limits.ts';
import type { Ids } from '../../request/ids.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import { type CheckCode, codeInvalid } from '../codes/check-code.ts';

export interface VerifyEmailDeps {
  readonly users: Pick<UserStore, 'changeFresh'>;
  readonly outbox: Pick<OutboxStore, 'append'>;
  readonly checkCode: CheckCode;
  readonly limits: Pick<Limits, 'tryCode' | 'verified'>;
  readonly transaction: RunTransaction;
  readonly publishEvent: (event: AuthEvent) => void;
  readonly audit: Audit;
  readonly ids: Pick<Ids, 'entityId'>;
  readonly now: () => Date;
}

/**
 * Verifies an account's address with a code from its mailbox. An address that is verified stays so, since its first
 * time, and nobody is told again. Raises the errors of {@link CheckCode} and `ERR-RATE-LIMITED`.
 */
export function createVerifyEmail(deps: VerifyEmailDeps) {
  const { users, outbox, checkCode, limits, transaction, publishEvent, audit, ids, now } = deps;

  return async (input: ConfirmCodeRequest, origin: RequestOrigin): Promise<EmailVerifiedResponse['data']> => {
    await limits.tryCode(origin);
    const code = await checkCode('email_verification', input, origin);
    const { _id: user_id, email_verified_at } = code.user;
    const at = now();
    const event = createAccountEvent(
      'service.auth.events.email_verified',
      { user_id, verified_at: at.toISOString() },
      eventOrigin(origin, at, ids),
    );
    const isFirstProof = email_verified_at === undefined;
    const work = async (session: ClientSession) => {
      await code.use(at, session);
      if (!isFirstProof) return;
      if (!(await users.changeFresh(code.user, { email_verified_at: at }, session))) throw codeInvalid();
      await outbox.append(event, at, session);
    };
    await transaction(work, { isCommitted: code.isUsed, lockKey: user_id });
    if (isFirstProof) publishEvent(event);
    audit({ event: 'account.email_verified', user_id }, origin);
    await limits.verified({ email: code.user.email, deviceId: undefined }, origin);
    return { message: 'EMAIL_VERIFIED', timestamp: now().toISOString() };
  };
}
