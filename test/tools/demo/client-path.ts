import { randomUUID } from 'node:crypto';
import { type AuthClient, createAuthClient } from '@auth-account/client';
import { type Account, account } from '@auth-account/client/account';
import { type Sessions, sessions } from '@auth-account/client/sessions';
import { memoryStorage } from '@auth-account/client/testing';
import { meet } from '../../support/app-network.ts';
import { type DemoStack, poll } from './demo-stack.ts';
import { check, demoPassword as password, say, show } from './narration.ts';

/** The network between the app and the api, which the story worsens. */
interface Weather {
  isOnline: boolean;
  /** The ending of the path to which the next answer is lost. */
  loses: string | undefined;
}

/** Tells what an app does with the client, and throws if anything goes otherwise. */
export async function tellClientPath(stack: DemoStack): Promise<void> {
  const weather: Weather = { isOnline: true, loses: undefined };
  const storage = memoryStorage();
  const start = () => startApp(stack.api, storage, weather);
  const email = `phone-${randomUUID().slice(0, 8)}@example.com`;
  let phone = start();

  say('25. An app with the client: it registers and logs in. The answer to the registration is lost; nobody notices.');
  weather.loses = '/register';
  const { user_id } = await phone.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
  check('the user', (await phone.logIn({ email, password })).user_id, user_id);
  await poll('the stream', () => phone.stream.isOpen() || undefined);
  show('state', phone.state());

  say('26. The phone kills the app, and starts it again in a tunnel: the user is still signed in.');
  phone.close();
  weather.isOnline = false;
  phone = start();
  show('state', await phone.ready());
  const failed = await phone.account.find().catch((error) => error);
  show('call', { code: failed.code, reaction: failed.reaction.type, retry: failed.retry });

  say('27. The network is back, and the first answer of the refresh is lost: the same token is sent again.');
  weather.isOnline = true;
  weather.loses = '/refresh';
  check('the address', (await phone.account.find()).email, email);

  say('28. Logged out in airplane mode: at once on the phone, and at the service when there is a network.');
  const laptop = startApp(stack.api, memoryStorage(), { isOnline: true, loses: undefined });
  await laptop.logIn({ email, password });
  weather.isOnline = false;
  await phone.logOut();
  show('state', phone.state());
  show('sessions', `${(await laptop.sessions.list()).sessions.length} at the service`);
  phone.close();
  weather.isOnline = true;
  phone = start();
  await poll('the logout', async () => ((await laptop.sessions.list()).sessions.length === 1 ? true : undefined));
  show('sessions', '1 at the service, the laptop’s');
  await laptop.logOut();
  for (const app of [phone, laptop]) app.close();
  console.log();
}

function startApp(
  baseUrl: string,
  storage: ReturnType<typeof memoryStorage>,
  weather: Weather,
): AuthClient & Account & Sessions {
  return createAuthClient({
    groups: [account, sessions],
    baseUrl,
    storage,
    async fetch(url, init) {
      if (!weather.isOnline) throw new TypeError('there is no network');
      const response = await meet('passes', url, init);
      show(init?.method ?? 'GET', `${new URL(url).pathname} ${response.status}`);
      if (weather.loses === undefined || !url.endsWith(weather.loses)) return response;
      weather.loses = undefined;
      show('lost', 'the answer did not reach the phone');
      throw new TypeError('the answer was lost');
    },
  });
}
