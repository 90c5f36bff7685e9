import { randomUUID } from 'node:crypto';
import { bearer, dataOf } from '../../support/api/api-driver.ts';
import { openGreeted } from '../../support/gateway/push-client.ts';
import type { DemoStack } from './demo-stack.ts';
import { milliseconds, narrate, say, show, showClose } from './narration.ts';

const password = 'correct horse battery staple';

/** Walks and prints the main path, and throws if an answer violates the contract. */
export async function showMainPath(stack: DemoStack): Promise<void> {
  const requestId = `demo-${randomUUID().slice(0, 8)}`;
  const api = narrate(stack.api, requestId);
  const email = `${requestId}@example.com`;
  console.log(`Every request carries X-Request-ID: ${requestId}`);

  say('1. A cook registers a household: a new space of type HOME.');
  const household = { email, password, space_creation_mode: 'CREATE_NEW_HOME' };
  const home = await dataOf(api.registerAccount(household), 201);
  const registeredAt = performance.now();
  const { event, at, where } = await stack.waitForEvent(home.user_id);
  say('2. Analytics and notification hear of it: a signed CloudEvent from the transactional outbox.');
  show('event', event);
  show('arrived', `${milliseconds(registeredAt, Math.max(at, registeredAt))} after the 201, at ${where}`);
  const line = await stack.waitForConsumer?.(home.home_group_id);
  if (line !== undefined) show('consumer', line);

  say('3. An office needs no invite either: a new space of type OFFICE.');
  const office = { email: `office-${email}`, password, space_creation_mode: 'CREATE_NEW_OFFICE' };
  await dataOf(api.registerAccount(office), 201);

  say('4. The same email address, in capitals: 409, and nothing is stored.');
  await dataOf(api.registerAccount({ ...household, email: email.toUpperCase() }), 409);

  say('5. The cook logs in on a phone.');
  const tokens = await dataOf(api.logIn({ email, password, device_name: 'Pixel 9', platform: 'android' }));

  say('6. The phone opens its push stream.');
  show('connect', tokens.push_stream_url);
  const stream = await openGreeted(tokens.push_stream_url, { token: tokens.access_token });
  show('frame', stream.hello);

  say('7. The access token is refreshed; the refresh token rotates, the stream stays.');
  const refreshed = await dataOf(api.refreshTokens({ refresh_token: tokens.refresh_token }));

  say('8. The cook logs out: the session is revoked, and the stream of this device closes.');
  const { refresh_token } = refreshed;
  await dataOf(api.logOut({ refresh_token }, bearer(refreshed)));
  await showClose(stream, 'LOGOUT_CONFIRMED');

  say('9. Once more: 404, the session is dead. The app clears its storage either way.');
  await dataOf(api.logOut({ refresh_token }, bearer(refreshed)), 404);
  await dataOf(api.refreshTokens({ refresh_token }), 401);
  console.log();
}
