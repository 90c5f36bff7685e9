import { type ClientGroup, type ClientGroupDeps, methodsOf, sessionOf } from '../calls/client-group.ts';
import type { SessionInfo } from '../events.ts';
import { type SecondFactorMethods, secondFactorMethods } from '../generated/methods.ts';
import type { OperationTypes } from '../generated/operation-types.ts';
import { confirmSecondFactor } from '../generated/operations.ts';
import { AuthError, sentTwice } from '../http/auth-error.ts';
import { parseJson } from '../http/exchange.ts';
import { entryOf } from '../platform/safe-storage.ts';

type Confirmation = OperationTypes['confirmSecondFactor']['body'];

/** A login that waits for the second factor: `details` of `ERR-SECOND-FACTOR-REQUIRED`. */
export interface WaitingLogin {
  readonly challenge_id: string;
  readonly methods: readonly string[];
  /** For `passkeys.prove`, if `methods` has `passkey`. */
  readonly passkey_options?: object;
  /** For display only, because the device's clock may be wrong. */
  readonly expires_at: string;
}

/** An ordered removal of the second factor. `stopRemoval` stops it. */
export type FactorRemoval = NonNullable<OperationTypes['findFactors']['data']['removal']>;

export interface SecondFactor {
  readonly secondFactor: SecondFactorMethods & {
    /**
     * Returns the login that waits for the second factor, if there is one. It is only in memory. The event
     * `second_factor` reports each change.
     */
    waiting(): WaitingLogin | undefined;
    /**
     * Completes the login that waits, or that of `challenge_id`. If the answer is lost, the request is sent once more.
     * With `trust_device`, the client keeps the device's token and sends it with the next logins of this user.
     *
     * Raises the codes of the operation. After `ERR-CODE-EXPIRED` the user logs in again from the start. Raises
     * `CLIENT_SUPERSEDED` if no login waits.
     */
    confirm(
      proof: Omit<Confirmation, 'challenge_id'> & Partial<Pick<Confirmation, 'challenge_id'>>,
    ): Promise<SessionInfo>;
    /** Forgets the login that waits. */
    giveUp(): void;
    /**
     * Returns the removal of the user's second factor that somebody has ordered, as the push stream or the latest `find`
     * knows it. The client calls `find` each time that the stream opens. The event `second_factor` reports each change.
     */
    removal(): FactorRemoval | undefined;
  };
}

/**
 * Operations on the second factor. With this group, a login that needs the second factor is kept after its refusal, and
 * the device can be trusted.
 */
export const secondFactor: ClientGroup<SecondFactor> = (deps) => {
  const plain = methodsOf(secondFactorMethods, deps.call);
  const trusts = createTrusts(deps);
  const half = createPendingLogin(deps, trusts);
  const removal = createRemoval(deps, plain);
  return {
    secondFactor: {
      ...plain,
      waiting: half.waiting,
      giveUp: () => half.wait(),
      confirm: createConfirm(deps, trusts, half),
      removal: removal.known,
      find: removal.find,
      async stopRemoval() {
        const data = await plain.stopRemoval();
        removal.learn(null);
        return data;
      },
      async deleteTrustedDevice(device_id) {
        const data = await plain.deleteTrustedDevice(device_id);
        if (device_id === (await deps.deviceId())) await trusts.dropOwn();
        return data;
      },
      async deleteTotp(body) {
        const data = await plain.deleteTotp(body);
        await trusts.dropOwn();
        return data;
      },
    },
  };
};

/**
 * Keeps what is known of an ordered removal, in memory and until the user is signed out. Looks for one each time that the
 * stream opens, so after each login too.
 */
function createRemoval({ events }: ClientGroupDeps, plain: Pick<SecondFactorMethods, 'find'>) {
  let known: FactorRemoval | undefined;
  /** Numbers what is learned and asked, so that a late answer does not replace what is newer. */
  let last = 0;
  let newest = 0;

  function learn(next: FactorRemoval | null, number = ++last): void {
    if (number < newest) return;
    newest = number;
    if (next?.due_at === known?.due_at) return;
    known = next ?? undefined;
    events.notify({ type: 'second_factor', status: 'removal' });
  }

  async function find() {
    const number = ++last;
    const data = await plain.find();
    learn(data.removal, number);
    return data;
  }

  events.subscribe((event) => {
    if (event.type === 'signed_out') learn(null);
    // An order may have come before. If the look fails, the next opening looks again.
    if (event.type === 'stream' && event.status === 'open') void find().catch(() => undefined);
    if (event.type !== 'message' || event.topic !== 'security.second_factor_removal') return;
    const { due_at } = event.payload as { readonly due_at: string | null };
    learn(due_at === null ? null : { due_at });
  });

  return { learn, find, known: () => known };
}

type PendingLogin = ReturnType<typeof createPendingLogin>;
type Trusts = ReturnType<typeof createTrusts>;

/** Keeps the login that waits, and adds the device's token to logins by password or code. */
function createPendingLogin({ events, wrapLogIn }: ClientGroupDeps, trusts: Trusts) {
  let waiting: WaitingLogin | undefined;
  let email = '';

  function wait(next?: WaitingLogin, address = ''): void {
    if (next === waiting) return;
    [waiting, email] = [next, address];
    events.notify({ type: 'second_factor', status: next ? 'waiting' : 'over' });
  }

  async function keepIfRefused({ code, details }: AuthError, address: string, token?: string): Promise<void> {
    if (code !== 'ERR-SECOND-FACTOR-REQUIRED') return;
    if (token) await trusts.drop((trust) => trust.token === token);
    wait(details as unknown as WaitingLogin, address);
  }

  wrapLogIn((next) => async (operation, body, intent, ...rest) => {
    // The intent of a login by password or code is its email address.
    const address = intent.includes('@') ? intent : '';
    const token = address ? await trusts.find(address) : undefined;
    try {
      const session = await next(operation, token ? { ...body, trusted_device_token: token } : body, intent, ...rest);
      wait();
      return session;
    } catch (error) {
      await keepIfRefused(error as AuthError, address, token);
      throw error;
    }
  });

  return {
    wait,
    waiting: () => waiting,
    /** Returns the email address of the login that waits. */
    email: () => email,
  };
}

function createConfirm({ logInWith }: ClientGroupDeps, trusts: Trusts, half: PendingLogin) {
  const confirm: SecondFactor['secondFactor']['confirm'] = async (input) => {
    const { challenge_id = half.waiting()?.challenge_id, ...proof } = input;
    if (!challenge_id) throw new AuthError('CLIENT_SUPERSEDED');
    const email = half.email();
    const send = () =>
      logInWith(confirmSecondFactor, { challenge_id, ...proof }, 'second-factor', (answer) => {
        const { user_id, device_id, trusted_device_token: token } = answer as Confirmed;
        return token && email ? trusts.keep({ mark: markOf(device_id, email), user_id, token }) : undefined;
      });
    try {
      // The service answers a repeated request with the same session.
      return await sentTwice(send);
    } catch (error) {
      if ((error as AuthError).code === 'ERR-CODE-EXPIRED') half.wait();
      throw error;
    }
  };
  return confirm;
}

type Confirmed = OperationTypes['confirmSecondFactor']['data'];

/** Trust of a user's logins on this device. */
interface Trust {
  /** Mark of the login's email address, because the address itself must not outlive the session. */
  readonly mark: string;
  readonly user_id: string;
  readonly token: string;
}

/** Trusts that a device keeps, so that a small storage can hold them. */
const maxTrusts = 5;

/** Keeps the tokens by which the service trusts this device. They outlive a logout, like the device's id. */
function createTrusts({ platform: { storage }, prefix, exclusive, deviceId, events, sessionManager }: ClientGroupDeps) {
  const slot = entryOf(prefix, 'trusted');
  let user: string | undefined;

  async function read(): Promise<readonly Trust[]> {
    const stored = parseJson((await storage.get(slot)) ?? '');
    return Array.isArray(stored) ? stored : [];
  }

  const update = (change: (trusts: readonly Trust[]) => readonly Trust[]) =>
    // A storage that fails now costs one second factor.
    exclusive('trusted', async () => storage.set(slot, JSON.stringify(change(await read())))).catch(() => undefined);

  const drop = (isOver: (trust: Trust) => boolean) => update((trusts) => trusts.filter((trust) => !isOver(trust)));
  const dropOwn = () => drop(({ user_id }) => user_id === user);

  events.subscribe((event) => {
    if (event.type === 'state') user = sessionOf(sessionManager)?.user_id ?? user;
    if (event.type === 'signed_out' && event.reason === 'account_deleted') void dropOwn();
  });

  return {
    drop,
    /** Forgets the trust of the user who is signed in, or was last. */
    dropOwn,
    async find(email: string): Promise<string | undefined> {
      const trusts = await read().catch(() => []);
      if (trusts.length === 0) return;
      const mark = markOf(await deviceId(), email);
      return trusts.find((trust) => trust.mark === mark)?.token;
    },
    keep: (added: Trust) =>
      update((trusts) => [added, ...trusts.filter(({ user_id }) => user_id !== added.user_id)].slice(0, maxTrusts)),
  };
}

/** Returns 32 bits that many email addresses share. */
function markOf(deviceId: string, email: string): string {
  let mark = 5_381;
  for (const character of `${deviceId} ${email.toLowerCase()}`) {
    mark = (Math.imul(mark, 33) ^ (character.codePointAt(0) ?? 0)) >>> 0;
  }
  return mark.toString(36);
}
