import type { Data } from '../calls/call.ts';
import { type ClientGroup, type ClientGroupDeps, methodsOf } from '../calls/client-group.ts';
import type { SessionInfo } from '../events.ts';
import { type PasskeysMethods, passkeysMethods } from '../generated/methods.ts';
import type { OperationTypes } from '../generated/operation-types.ts';
import {
  createPasskey,
  createPasskeyChallenge,
  createPasskeyLoginChallenge,
  listPasskeys,
  logInByPasskey,
} from '../generated/operations.ts';
import { AuthError, sentTwice } from '../http/auth-error.ts';
import { addTexts, passkeyTexts } from '../http/error-texts.ts';
import { isRecord } from '../http/exchange.ts';

type Reauthentication = OperationTypes['createPasskeyChallenge']['body'];
type NewCredential = OperationTypes['createPasskey']['body']['credential'];
type UsedCredential = OperationTypes['logInByPasskey']['body']['credential'];

export interface PasskeyLogin {
  /** `conditional`: the browser offers the passkeys in its autofill, and the promise waits for the user. */
  readonly mediation?: 'conditional' | undefined;
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The platform's authenticators: `browserPasskeys()` in pages, `Passkey` of `react-native-passkey` on phones. Options and
 * credentials have the JSON form of WebAuthn level 3.
 */
export interface PasskeyBridge {
  create(options: never): Promise<object>;
  get(options: never, how: PasskeyLogin): Promise<object>;
  /** Says that no account has a passkey, so that the device drops it. */
  signalUnknownCredential?(facts: { readonly rpId: string; readonly credentialId: string }): Promise<unknown>;
  /** Names the account's passkeys, so that the device drops the others. */
  signalAllAcceptedCredentials?(facts: {
    readonly rpId: string;
    readonly userId: string;
    readonly allAcceptedCredentialIds: readonly string[];
  }): Promise<unknown>;
}

export interface Passkeys {
  readonly passkeys: PasskeysMethods & {
    /**
     * Makes a passkey on this device. Raises the codes of the operations, and those of {@link prove}. If the device has
     * a passkey of the account already, the code is `ERR-PASSKEY-EXISTS`.
     */
    create(input: Reauthentication & { readonly name?: string | null }): Promise<Data<'createPasskey'>>;
    /** Opens a session with a passkey that the user chooses. Raises the codes of the operations, and those of `prove`. */
    logIn(how?: PasskeyLogin): Promise<SessionInfo>;
    /**
     * Asks for a passkey for a second factor or a step-up, with the options of its challenge. Raises
     * `CLIENT_PASSKEY_DISMISSED` if the user or a later call has ended it, and `CLIENT_PASSKEY_FAILED`.
     */
    prove(options: object): Promise<UsedCredential>;
  };
}

/** Creates the operations with passkeys. */
export function passkeys(bridge: PasskeyBridge): ClientGroup<Passkeys> {
  return (deps) => {
    addTexts(passkeyTexts);
    const plain = methodsOf(passkeysMethods, deps.call);
    return {
      passkeys: {
        ...plain,
        create: createNewPasskey(deps, bridge),
        logIn: createLogIn(deps, bridge),
        prove: (options) => chosen(() => bridge.get(options as never, {})),
        async delete(passkey_id, body) {
          const data = await plain.delete(passkey_id, body);
          const { rp_id: rpId, user_handle: userId, accepted_credential_ids: allAcceptedCredentialIds } = data;
          if (userId) signal(() => bridge.signalAllAcceptedCredentials?.({ rpId, userId, allAcceptedCredentialIds }));
          return data;
        },
      },
    };
  };
}

function createNewPasskey({ call }: ClientGroupDeps, bridge: PasskeyBridge): Passkeys['passkeys']['create'] {
  /** Returns the passkey that a request whose answer was lost has made. */
  async function findMade(id: string): Promise<Data<'createPasskey'> | undefined> {
    const { passkeys: all, accepted_credential_ids: ids, timestamp } = await call(listPasskeys);
    const made = all[ids.indexOf(id)];
    return made && { ...made, timestamp };
  }

  return async ({ name = null, ...fresh }) => {
    const { challenge_id, options } = await call(createPasskeyChallenge, { body: fresh });
    const credential = await chosen<NewCredential>(() => bridge.create(options as never));
    let isRepeated = false;
    return sentTwice(async () => {
      try {
        return await call(createPasskey, { body: { challenge_id, credential, name } });
      } catch (error) {
        const isTaken = isRepeated && (error as AuthError).code === 'ERR-PASSKEY-EXISTS';
        isRepeated = true;
        const made = isTaken ? await findMade(credential.id) : undefined;
        if (made) return made;
        throw error;
      }
    });
  };
}

function createLogIn(deps: ClientGroupDeps, bridge: PasskeyBridge): Passkeys['passkeys']['logIn'] {
  const { call, logInWith, platform } = deps;

  /** Waits for the user. A challenge that is about to end is replaced, because autofill may wait for hours. */
  async function choose({ mediation, signal: end }: PasskeyLogin) {
    for (;;) {
      const { challenge_id, options } = await call(createPasskeyLoginChallenge);
      const renewal = new AbortController();
      const stop = () => renewal.abort();
      end?.addEventListener('abort', stop);
      if (end?.aborted) stop();
      const cancel = mediation && platform.timers.after(options.timeout * 0.9, stop);
      try {
        const how = { mediation, signal: renewal.signal };
        const credential = await chosen<UsedCredential>(() => bridge.get(options as never, how));
        return { challenge_id, credential, rpId: options.rpId };
      } catch (error) {
        if (!renewal.signal.aborted || end?.aborted) throw error;
      } finally {
        cancel?.();
        end?.removeEventListener('abort', stop);
      }
    }
  }

  return async (how = {}) => {
    const { rpId, ...body } = await choose(how);
    try {
      // The service answers a repeated request with the same session.
      return await sentTwice(() => logInWith(logInByPasskey, body, 'passkey'));
    } catch (error) {
      const { details } = error as AuthError;
      if (isRecord(details) && details.unknown_credential) {
        signal(() => bridge.signalUnknownCredential?.({ rpId, credentialId: body.credential.id }));
      }
      throw error;
    }
  };
}

/** Returns the credential in the contract's form. */
async function chosen<T extends NewCredential | UsedCredential>(ask: () => Promise<object>): Promise<T> {
  const credential = await ask().catch((error) => {
    throw failureOf(error ?? {});
  });
  return { type: 'public-key', ...credential } as T;
}

/** Replaces the platform's error, whose text may hold anything. Pages name it in `name`, React Native in `error`. */
function failureOf({ name, error }: { readonly name?: string; readonly error?: string }): AuthError {
  // The device has one of the account's passkeys.
  if (name === 'InvalidStateError') return new AuthError('ERR-PASSKEY-EXISTS');
  const isDismissed = /NotAllowed|Abort|Cancel/.test(`${name} ${error}`);
  const failure = new AuthError(isDismissed ? 'CLIENT_PASSKEY_DISMISSED' : 'CLIENT_PASSKEY_FAILED');
  return Object.assign(failure, { reaction: { type: 'CHECK_PASSKEY' } });
}

/** Notifies the device. Nothing depends on its answer, and many devices don't know the call. */
function signal(notify: () => Promise<unknown> | undefined): void {
  void Promise.resolve()
    .then(notify)
    .catch(() => undefined);
}
