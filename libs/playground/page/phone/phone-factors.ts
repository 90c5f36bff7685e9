import type { Passkeys } from '@auth-account/client/passkeys';
import type { SecondFactor } from '@auth-account/client/second-factor';
import type { Reauthentication, StepUp } from '@auth-account/client/step-up';
import { type AuthenticatorEntry, codeOf, nextStep, waitFor } from './authenticator.ts';
import { readAccount, writeAccount } from './phone-account.ts';
import type { Run, SetView, ViewStore } from './phone-view.ts';
import type { Owner } from './traffic.ts';

/** The actions of a user with passkeys and an authenticator app. */
export interface FactorDeeds {
  addPasskey(): Promise<void>;
  removePasskey(passkeyId: string): Promise<void>;
  logInByPasskey(): Promise<void>;
  /** Gives an authenticator app its secret. `confirmCode` then switches the second factor on. */
  addAuthenticator(): Promise<void>;
  removeAuthenticator(): Promise<void>;
  /** Enters the app's next code. Waits until the service accepts it. */
  takeCode(): Promise<void>;
  /** Sends the entered code, for the new authenticator app or the login that waits. */
  confirmCode(): Promise<void>;
  giveUpLogin(): void;
  /** Asks for the code by mail with which somebody who has lost the app orders the removal of the second factor. */
  askRemoval(): Promise<void>;
  /** Orders the removal with the entered code. */
  orderRemoval(): Promise<void>;
  stopRemoval(): Promise<void>;
}

export interface FactorDeps {
  readonly owner: Owner;
  readonly client: Passkeys & SecondFactor & StepUp;
  readonly deviceName: () => string;
  readonly view: ViewStore;
  readonly set: SetView;
  readonly run: Run;
  readonly readAgain: () => Promise<void>;
}

export function factorDeedsOf(deps: FactorDeps): FactorDeeds {
  const { client, deviceName, view, set, run, readAgain } = deps;
  const { keep, nextCode, fresh } = createAuthenticatorApp(deps);
  return {
    addPasskey: () =>
      run(async () => {
        await client.passkeys.create({ name: deviceName(), ...(await fresh('passkeys')) });
        await readAgain();
      }),
    removePasskey: (passkeyId) =>
      run(async () => {
        await client.passkeys.delete(passkeyId, await fresh('passkeys'));
        await readAgain();
      }),
    logInByPasskey: () =>
      run(async () => {
        await client.passkeys.logIn();
      }),
    addAuthenticator: () =>
      run(async () => {
        const { factor_id, secret } = await client.secondFactor.createTotp(await fresh('totp'));
        set({ enrolment: { factor_id, secret, takenStep: 0 }, code: '' });
      }),
    removeAuthenticator: () =>
      run(async () => {
        await client.secondFactor.deleteTotp(await fresh('totp'));
        keep(undefined);
      }),
    takeCode: () => run(async () => set({ code: await nextCode() })),
    confirmCode: () =>
      run(async () => {
        const { code, enrolment } = view.read();
        if (enrolment === undefined) {
          await client.secondFactor.confirm({ method: 'totp', code });
        } else {
          const { factor_id, ...entry } = enrolment;
          await client.secondFactor.confirmTotp({ factor_id, code });
          keep(entry);
        }
        set({ code: '', enrolment: undefined });
      }),
    giveUpLogin: client.secondFactor.giveUp,
    ...removalDeedsOf(deps),
  };
}

function removalDeedsOf({ client, view, set, run }: FactorDeps) {
  return {
    askRemoval: () =>
      run(async () => {
        const { challenge_id } = await client.secondFactor.requestRemoval({ email: view.read().email });
        client.secondFactor.giveUp();
        set({ challengeId: challenge_id, code: '', screen: 'lost_app', notice: { kind: 'code_sent' } });
      }),
    orderRemoval: () =>
      run(async () => {
        const { challengeId: challenge_id = '', code } = view.read();
        await client.secondFactor.confirmRemoval({ challenge_id, code });
        set({ challengeId: undefined, code: '', screen: 'log_in', notice: { kind: 'removal_ordered' } });
      }),
    stopRemoval: () =>
      run(async () => {
        await client.secondFactor.stopRemoval();
      }),
  };
}

function createAuthenticatorApp({ owner, client, view, set }: FactorDeps) {
  function keep(authenticator: AuthenticatorEntry | undefined): void {
    writeAccount(owner, { ...readAccount(owner), authenticator });
    set({ authenticator });
  }

  async function take<E extends AuthenticatorEntry>(entry: E, keepTaken: (taken: E) => void): Promise<string> {
    const takenStep = nextStep(entry, Date.now());
    await new Promise((resolve) => setTimeout(resolve, waitFor(takenStep, Date.now())));
    keepTaken({ ...entry, takenStep });
    return codeOf(entry, takenStep);
  }

  async function nextCode(): Promise<string> {
    const { authenticator, enrolment } = view.read();
    if (enrolment) return take(enrolment, (taken) => set({ enrolment: taken }));
    return authenticator ? take(authenticator, keep) : '';
  }

  /** Proves who is there: by the password, or by a code if the second factor is on. */
  async function fresh(
    purpose: 'passkeys' | 'totp',
  ): Promise<Reauthentication & { readonly current_password?: string }> {
    const { password, authenticator } = view.read();
    if (authenticator === undefined) return { current_password: password };
    return client.stepUp(purpose, async () => ({ method: 'totp', code: await take(authenticator, keep) }));
  }

  return { keep, nextCode, fresh };
}
