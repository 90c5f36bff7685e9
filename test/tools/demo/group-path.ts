import { randomUUID } from 'node:crypto';
import { openGreeted } from '../../support/push-client.ts';
import type { DemoStack } from './demo-stack.ts';
import { bearer, createAsk, demoPassword as password, say, show, showClose } from './narration.ts';

/** Tells how people join one household, and throws if an answer violates the contract. */
export async function tellGroupPath(stack: DemoStack): Promise<void> {
  const requestId = `demo-${randomUUID().slice(0, 8)}`;
  const { post, get } = createAsk(stack.api, requestId);
  const emailOf = (name: string) => `${name}-${requestId}@example.com`;
  console.log(`Every request of this part carries X-Request-ID: ${requestId}`);

  say('10. Another cook invites two people into the household; only its owner can.');
  await post('auth/register', 201, { email: emailOf('cook'), password, space_creation_mode: 'CREATE_NEW_HOME' });
  const cook = (await post('auth/login', 200, { email: emailOf('cook'), password })).json.data;
  const invite = (await post('invites', 201, { max_uses: 2 }, bearer(cook))).json.data;
  await get(`invites/${invite.invite_token}`, 200);

  say('11. A flatmate registers with the invite, and is in the same household.');
  const { invite_token } = invite;
  const flatmate = { email: emailOf('flatmate'), password, space_creation_mode: 'JOIN_EXISTING', invite_token };
  await post('auth/register', 201, flatmate);

  say('12. A friend has a household already: the app has to ask first.');
  await post('auth/register', 201, { email: emailOf('friend'), password, space_creation_mode: 'CREATE_NEW_HOME' });
  const friend = (await post('auth/login', 200, { email: emailOf('friend'), password })).json.data;
  const stream = await openGreeted(friend.push_stream_url, { token: friend.access_token });
  show('frame', stream.hello);
  const accept = `invites/${invite_token}/accept`;
  await post(accept, 400, {}, bearer(friend));

  say('13. The friend agrees and moves: no session ends, but the stream closes with 4004.');
  await post(accept, 200, { leave_current_group: true }, bearer(friend));
  await showClose(stream, 'GROUP_CHANGED');

  say('14. The old access token is refused; the app refreshes, as after any 401, and is in the new household.');
  await get('groups/current', 401, bearer(friend));
  const moved = (await post('auth/refresh', 200, { refresh_token: friend.refresh_token })).json.data;
  const { members } = (await get('groups/current', 200, bearer(moved))).json.data;
  if (members.length !== 3) throw new Error(`the household has ${members.length} members`);
  const reopened = await openGreeted(moved.push_stream_url, { token: moved.access_token });
  show('frame', reopened.hello);
  reopened.terminate();

  say('15. The invite is used up: a fourth person is told 410.');
  await post('auth/register', 410, { ...flatmate, email: emailOf('fourth') });
  console.log();
}
