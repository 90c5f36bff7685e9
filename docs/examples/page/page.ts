import { AuthError, createAuthClient } from '@auth-account/client';
import { browserPlatform } from '@auth-account/client/browser';
import { federated } from '@auth-account/client/federated';
import { OidcClient } from 'oidc-client-ts';

const auth = createAuthClient({ baseUrl: 'https://auth.example.com', groups: [federated], ...browserPlatform() });
const provider = new OidcClient({
  authority: 'https://login.example.com',
  client_id: 'kitchen',
  redirect_uri: `${location.origin}/`,
  scope: 'openid email profile',
});

const actions: Record<string, (fields: Record<string, string>) => Promise<unknown>> = {
  login: ({ email = '', password = '' }) => auth.logIn({ email, password }),
  async office() {
    const { challenge_id, nonce } = await auth.federated.challenge();
    const { url } = await provider.createSigninRequest({ nonce, state: challenge_id });
    location.assign(url);
  },
  async back() {
    const address = location.href;
    history.replaceState(null, '', '/'); // the code counts once
    const { id_token = '', userState } = await provider.processSigninResponse(address);
    await auth.federated.logInWith('office', { challenge_id: String(userState), id_token });
  },
  join: () => auth.federated.register({ space_creation_mode: 'CREATE_NEW_HOME' }),
  link: ({ password = '' }) => auth.federated.logInAndLink({ password }),
  leave: () => auth.logOut(),
};

async function act(name: string, fields = {}) {
  const textOf = (error: unknown) => (error instanceof AuthError ? error.message : 'That did not work. Try again.');
  const message = await actions[name]?.(fields).then(() => '', textOf);
  const line = document.querySelector('#message');
  if (line) line.textContent = message ?? '';
}

function render() {
  const { status } = auth.state();
  const now = (status === 'signed_out' && auth.federated.waiting()?.needs) || status;
  for (const form of document.forms) form.hidden = form.dataset.when !== now;
}

auth.subscribe(render);
render();
document.addEventListener('submit', (event) => {
  event.preventDefault();
  const form = event.target as HTMLFormElement;
  void act(form.id, Object.fromEntries(new FormData(form)));
});
if (location.search.includes('state=')) void act('back');
