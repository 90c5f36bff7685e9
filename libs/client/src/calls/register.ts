import type { SessionInfo } from '../events.ts';
import { registerAccount } from '../generated/operations.ts';
import { AuthError } from '../http/auth-error.ts';
import { emailKey } from '../http/typed-input.ts';
import type { Log, Platform } from '../platform/platform.ts';
import { entryOf } from '../platform/safe-storage.ts';
import type { Body, Call, Data } from './call.ts';
import { createIntents } from './intents.ts';
import type { Credentials } from './log-in.ts';

export type Registration = Omit<Body<'registerAccount'>, 'device_id'>;
export type Register = (input: Registration) => Promise<Data<'registerAccount'>>;

export interface RegisterDeps {
  readonly platform: Pick<Platform, 'storage' | 'randomUUID' | 'now'>;
  readonly call: Call;
  /** Logs in with the email address and password of the registration, if the account may be the user's own. */
  readonly logIn: (credentials: Credentials) => Promise<SessionInfo>;
  readonly prefix: string;
  readonly log: Log;
}

/**
 * Registers. Because of the intent's idempotency key, a user who registers again after a lost answer, or after the app
 * was killed, gets the first answer and not the error that their own email address is taken.
 *
 * After more than a day the service has forgotten the key. If it then reports that the email address is taken, but the
 * password is right, the account is the user's own, so they are logged in.
 *
 * `ERR-IDEMPOTENCY-KEY-REUSED` means that the account was already created from here, with another password. The app
 * should offer to log in.
 */
export function createRegister({ platform, call, logIn, prefix, log }: RegisterDeps): Register {
  const intents = createIntents(platform, entryOf(prefix, 'registration'), log);

  /** Returns the account if it is the user's own after all. */
  async function claim({ email, password }: Registration, refusal: unknown): Promise<Data<'registerAccount'>> {
    try {
      const { user_id, home_group_id, account_type } = await logIn({ email, password });
      return { user_id, home_group_id, account_type, timestamp: new Date(platform.now()).toISOString() };
    } catch (error) {
      throw error instanceof AuthError && error.code === 'ERR-INVALID-CREDENTIALS' ? refusal : error;
    }
  }

  async function register(input: Registration): Promise<Data<'registerAccount'>> {
    const { email, space_creation_mode, invite_token = null } = input;
    let mayBeOwn = false;
    try {
      const intent = JSON.stringify([emailKey(email), space_creation_mode, invite_token]);
      return await intents.carryOut(intent, (idempotencyKey, isRepeated) => {
        mayBeOwn = isRepeated;
        return call(registerAccount, { body: input, idempotencyKey });
      });
    } catch (error) {
      const isTaken = error instanceof AuthError && error.code === 'ERR-EMAIL-ALREADY-EXISTS';
      if (isTaken && mayBeOwn) return claim(input, error);
      throw error;
    }
  }

  const running = new Map<string, ReturnType<Register>>();
  return (input) => {
    const form = JSON.stringify(input);
    // A button that is tapped twice registers once.
    const done = running.get(form) ?? register(input).finally(() => running.delete(form));
    running.set(form, done);
    return done;
  };
}
