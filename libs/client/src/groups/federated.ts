import { type ClientGroup, type ClientGroupDeps, methodsOf } from '../calls/client-group.ts';
import type { SessionInfo } from '../events.ts';
import { type FederatedMethods, federatedMethods } from '../generated/methods.ts';
import type { OperationTypes } from '../generated/operation-types.ts';
import { linkByProof, logInByProvider, type Operation } from '../generated/operations.ts';
import { AuthError, sentTwice } from '../http/auth-error.ts';
import { isRecord, parseJson } from '../http/exchange.ts';
import { textOfBase64url } from '../platform/base64url.ts';

type LoginBody = OperationTypes['logInByProvider']['body'];
type DeviceField = 'device_id' | 'device_name' | 'platform' | 'trusted_device_token';
type NewAccount = Pick<LoginBody, 'space_creation_mode' | 'invite_token' | 'display_name'>;
type ProviderToken = Omit<LoginBody, DeviceField | keyof NewAccount>;
type AccountProof = Omit<OperationTypes['linkByProof']['body'], DeviceField | 'link_challenge_id'>;

/** A person whom a provider has named, and whom the service can't log in yet. */
export type WaitingPerson = { readonly provider: string } & (
  | {
      /** No account has the identity: `register` makes one. */
      readonly needs: 'registration';
      readonly email?: string;
      readonly display_name?: string;
    }
  | {
      /** An account has the person's email address: `logInAndLink` proves it. */
      readonly needs: 'link';
      readonly methods: readonly string[];
      /** For `passkeys.prove`, if `methods` has `passkey`. */
      readonly passkey_options?: object;
      /** For display only, because the device's clock may be wrong. */
      readonly expires_at: string;
    }
);

export interface Federated {
  readonly federated: Omit<FederatedMethods, 'requestLinkCode'> & {
    /**
     * Opens a session by an ID token of the provider, whose nonce is that of `challenge_id`. If the answer is lost, the
     * request is sent once more. Raises the codes of the operation. After `ERR-REGISTRATION-REQUIRED` and
     * `ERR-ACCOUNT-LINK-REQUIRED` the person waits.
     */
    logInWith(provider: string, token: ProviderToken & NewAccount): Promise<SessionInfo>;
    /** Returns the person who waits, if there is one. They are only in memory. The event `federated` reports each change. */
    waiting(): WaitingPerson | undefined;
    /**
     * Registers the person who waits, and logs in. Raises the codes of the operation, and `CLIENT_SUPERSEDED` if nobody
     * waits.
     */
    register(account: NewAccount & Required<Pick<NewAccount, 'space_creation_mode'>>): Promise<SessionInfo>;
    /** Asks for the code by which the person who waits proves their account. Raises as `register` does. */
    requestLinkCode(): Promise<OperationTypes['requestLinkCode']['data']>;
    /**
     * Proves the account of the person who waits, logs in, and links the identity: with `password`, `credential` of
     * `passkeys.prove`, or `code` of the latest mail. Raises as `register` does.
     */
    logInAndLink(proof: AccountProof): Promise<SessionInfo>;
    /** Forgets the person who waits. */
    giveUp(): void;
  };
}

/** Login by providers of OpenID Connect, and the identities of the user. */
export const federated: ClientGroup<Federated> = ({ call, ...deps }) => {
  const plain = methodsOf(federatedMethods, call);
  const person = createPerson(deps);

  const superseded = () => Promise.reject(new AuthError('CLIENT_SUPERSEDED'));
  return {
    federated: {
      ...plain,
      // The service answers a repeat with the same identity.
      link: (provider, body) => sentTwice(() => plain.link(provider, body)),
      waiting: person.waiting,
      giveUp: () => person.wait(),
      logInWith: (provider, token) => person.logIn(operationFor(provider), { provider, token }),
      async register(account) {
        const asked = person.asked('registration');
        if (asked === undefined) return superseded();
        const { provider, token } = asked;
        return person.logIn(operationFor(provider), { provider, token: { ...token, ...account } });
      },
      async requestLinkCode() {
        const { link_challenge_id } = person.asked('link') ?? {};
        if (link_challenge_id === undefined) return superseded();
        const data = await plain.requestLinkCode({ link_challenge_id });
        person.keepCode(data.challenge_id);
        return data;
      },
      async logInAndLink(proof) {
        const asked = person.asked('link');
        if (asked === undefined) return superseded();
        const { link_challenge_id, challenge_id } = asked;
        return person.logIn(linkByProof, asked, { link_challenge_id, ...(proof.code && { challenge_id }), ...proof });
      },
    },
  };
};

/** Returns the operation with the provider in its path. */
function operationFor(provider: string): Operation {
  const [name, method, path, takes] = logInByProvider;
  return [name, method, path.replace('{provider}', encodeURIComponent(provider)), takes];
}

interface PendingRequest {
  readonly provider: string;
  readonly token: ProviderToken & NewAccount;
  readonly link_challenge_id?: string;
  /** Challenge of the latest mailed code. */
  readonly challenge_id?: string;
}

/** Codes after which the person must begin anew, or goes on in the second factor. */
const endings = [
  ...[
    'ERR-IDENTITY-TOKEN-INVALID',
    'ERR-IDENTITY-DISABLED',
    'ERR-CODE-EXPIRED',
    'ERR-IDENTITY-IN-USE',
    'ERR-SECOND-FACTOR-REQUIRED',
  ],
];

/** Keeps the person whom a provider has named until they are logged in. */
function createPerson({ logInWith, wrapLogIn, events }: Omit<ClientGroupDeps, 'call'>) {
  let waiting: WaitingPerson | undefined;
  let kept: PendingRequest | undefined;

  function wait(next?: WaitingPerson, asked?: PendingRequest): void {
    const hasChanged = next !== waiting;
    [waiting, kept] = [next, asked];
    if (hasChanged) events.notify({ type: 'federated', status: next ? 'waiting' : 'over' });
  }

  function learn({ code, details }: AuthError, asked: PendingRequest): void {
    const needs = { 'ERR-REGISTRATION-REQUIRED': 'registration', 'ERR-ACCOUNT-LINK-REQUIRED': 'link' }[code as string];
    if (needs !== undefined && isRecord(details)) {
      const { link_challenge_id, ...shown } = details;
      const next = { ...shown, needs, provider: asked.provider } as WaitingPerson;
      wait(next, { ...asked, ...(needs === 'link' && { link_challenge_id: String(link_challenge_id) }) });
    } else if (endings.includes(code)) wait();
  }

  wrapLogIn((next) => async (...signInMethod) => {
    const session = await next(...signInMethod);
    wait();
    return session;
  });

  return {
    wait,
    waiting: () => waiting,
    asked: (needs: WaitingPerson['needs']) => (waiting?.needs === needs ? kept : undefined),
    keepCode(challenge_id: string) {
      if (kept) kept = { ...kept, challenge_id };
    },
    async logIn(operation: Operation, asked: PendingRequest, body: object = asked.token): Promise<SessionInfo> {
      try {
        // The service answers a repeated request with the same session.
        return await sentTwice(() => logInWith(operation, body, addressIn(asked.token.id_token)));
      } catch (error) {
        learn(error as AuthError, asked);
        throw error;
      }
    },
  };
}

/** Returns the email address that an ID token names. It identifies the login, as at a login by password. */
function addressIn(idToken: string): string {
  const claims = parseJson(textOfBase64url(idToken.split('.')[1] ?? ''));
  return isRecord(claims) && typeof claims.email === 'string' ? claims.email.toLowerCase() : 'provider';
}
