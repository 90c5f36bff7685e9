import type { Federated } from '@auth-account/client/federated';
import type { Run, SetView, ViewStore } from './phone-view.ts';

/** The provider of the local stack, and the page to which it sends the browser back. */
const provider = 'local';
export const callbackPath = '/callback';

/** The actions of a user with a provider. */
export interface PeopleDeeds {
  /** Opens the provider's page, and logs in as the person who was chosen there. */
  continueWith(): Promise<void>;
  /** Takes the parameters with which the provider's page has sent the browser back; none if the user has closed it. */
  takePerson(fragment?: string): void;
  /** Makes an account for the person who waits. */
  registerPerson(): Promise<void>;
  /** Proves the account of the person who waits by the entered password. */
  linkPerson(): Promise<void>;
  giveUpPerson(): void;
  removeIdentity(identityId: string): Promise<void>;
}

export interface PeopleDeps {
  readonly client: Federated;
  readonly view: ViewStore;
  readonly set: SetView;
  readonly run: Run;
  readonly readAgain: () => Promise<void>;
}

export function peopleDeedsOf({ client, view, set, run, readAgain }: PeopleDeps): PeopleDeeds {
  let take: (fragment: string) => void = () => undefined;

  /** Shows the provider's page until the user has chosen a person there, and returns the ID token. */
  async function askProvider(nonce: string): Promise<string | null> {
    const { promise, resolve } = Promise.withResolvers<string>();
    take = resolve;
    const asked = { client_id: 'playground', response_type: 'id_token', scope: 'openid email name', nonce };
    const back = { redirect_uri: `${location.origin}${callbackPath}`, login_hint: view.read().email };
    set({ providerPage: `/provider/authorize?${new URLSearchParams({ ...asked, ...back })}` });
    const fragment = await promise;
    set({ providerPage: undefined });
    return new URLSearchParams(fragment).get('id_token');
  }

  return {
    continueWith: () =>
      run(async () => {
        const { challenge_id, nonce } = await client.federated.challenge();
        const id_token = await askProvider(nonce);
        if (id_token !== null) await client.federated.logInWith(provider, { challenge_id, id_token });
      }),
    takePerson: (fragment = '') => take(fragment),
    registerPerson: () =>
      run(async () => {
        const { space, inviteToken } = view.read();
        const invite = space === 'JOIN_EXISTING' ? { invite_token: inviteToken } : {};
        await client.federated.register({ space_creation_mode: space, ...invite });
      }),
    linkPerson: () =>
      run(async () => {
        await client.federated.logInAndLink({ password: view.read().password });
      }),
    giveUpPerson: client.federated.giveUp,
    removeIdentity: (identityId) =>
      run(async () => {
        await client.federated.unlink(identityId, { current_password: view.read().password });
        await readAgain();
      }),
  };
}
