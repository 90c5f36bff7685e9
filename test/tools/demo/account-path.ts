import { randomUUID } from 'node:crypto';
import { newDeviceTopic } from '@auth-account/contracts';
import { openGreeted } from '../../support/push-client.ts';
import type { DemoStack } from './demo-stack.ts';
import { endGrace } from './end-grace.ts';
import {
  bearer,
  check,
  createAsk,
  inTime,
  milliseconds,
  demoPassword as password,
  say,
  show,
  showClose,
} from './narration.ts';

const newPassword = 'nine horses and one battery';
const deviceOf = (device_name: string) => ({ device_id: randomUUID(), device_name, platform: 'android' });

/** A person with an account, and the functions with which the story sends requests. */
interface Telling extends ReturnType<typeof createAsk> {
  readonly stack: DemoStack;
  readonly email: string;
  readonly userId: string;
  readonly tablet: ReturnType<typeof deviceOf>;
}

/** Tells what happens to an account after its registration, and throws if an answer violates the contract. */
export async function tellAccountPath(stack: DemoStack): Promise<void> {
  const requestId = `demo-${randomUUID().slice(0, 8)}`;
  const ask = createAsk(stack.api, requestId);
  const email = `keeper-${requestId}@example.com`;
  console.log(`Every request of this part carries X-Request-ID: ${requestId}`);

  say('16. One more cook registers, and reads recipes on a tablet.');
  const tablet = deviceOf('Tablet');
  const registration = { email, password, space_creation_mode: 'CREATE_NEW_HOME', device_id: tablet.device_id };
  const { user_id: userId } = (await ask.post('auth/register', 201, registration)).json.data;
  const telling = { ...ask, stack, email, userId, tablet };
  const stream = await tellNotMe(telling);
  await tellForgottenPassword(telling, stream);
  await tellGoodbye(telling);

  say('24. Nothing is left: the login is one to an unknown address, which is free again.');
  await ask.post('auth/login', 401, { email, password: newPassword });
  await ask.post('auth/register', 201, registration);
  console.log();
}

/** Tells of a login that the owner ends. Returns the tablet's stream. */
async function tellNotMe({ stack, email, tablet, post, remove }: Telling) {
  const { access_token, push_stream_url } = (await post('auth/login', 200, { email, password, ...tablet })).json.data;
  const stream = await openGreeted(push_stream_url, { token: access_token });
  show('frame', stream.hello);

  say(
    '17. A lost phone: its finder knows the password, and logs in on a new one. The tablet hears of it, the mailbox too.',
  );
  const finder = (await post('auth/login', 200, { email, password, ...deviceOf('Pixel 9') })).json.data;
  const strange = await openGreeted(finder.push_stream_url, { token: finder.access_token });
  const frame = await inTime('the message of the new device', stream.next());
  show('frame', frame);
  check('the topic', frame.topic, newDeviceTopic);
  const { session_id } = frame.payload as { readonly session_id: string };
  check('the session', session_id, finder.session_id);
  await showMail(stack, email, /^New login/);

  say('18. "Not me", in one tap: that session ends and its stream closes. The tablet goes on.');
  await remove(`auth/sessions/${session_id}`, 200, bearer({ access_token }));
  await showClose(strange, 'SESSION_REVOKED');
  await post('auth/refresh', 401, { refresh_token: finder.refresh_token });
  check('the stream of the tablet is open, which', stream.isOpen(), true);
  return stream;
}

async function tellForgottenPassword(
  { stack, email, tablet, post }: Telling,
  stream: Awaited<ReturnType<typeof tellNotMe>>,
): Promise<void> {
  say('19. A forgotten password: the app asks for a code. An address without an account is answered alike.');
  const { challenge_id } = (await post('auth/password-reset', 202, { email })).json.data;
  await post('auth/password-reset', 202, { email: `nobody-${email}` });
  const { text } = await showMail(stack, email, /code/);
  const [code = ''] = /\b\d{8}\b/.exec(text) ?? [];

  say('20. The code and a new password are typed: every session ends, and the old password is none.');
  await post('auth/password-reset/confirm', 200, { challenge_id, code, new_password: newPassword });
  await showClose(stream, 'SESSION_REVOKED');
  await post('auth/login', 401, { email, password, ...tablet });
  await post('auth/password-reset/confirm', 403, { challenge_id, code, new_password: password });
}

async function tellGoodbye({ stack, email, userId, tablet, post }: Telling): Promise<void> {
  const credentials = { email, password: newPassword };
  const order = async () => {
    const session = (await post('auth/login', 200, { ...credentials, ...tablet })).json.data;
    const stream = await openGreeted(session.push_stream_url, { token: session.access_token });
    const { data } = (await post('account/deletion', 202, { current_password: newPassword }, bearer(session))).json;
    await showClose(stream, 'SESSION_REVOKED');
    return data.deletes_at;
  };
  say('21. A goodbye: the deletion is ordered, and every stream closes. A login in the days of grace is told the end.');
  const deletesAt = await order();
  const refusal = await post('auth/login', 403, { ...credentials, ...tablet });
  check('the time of the erasure', refusal.json.details.deletes_at, deletesAt);
  await showMail(stack, email, /delet/i);

  say('22. Second thoughts: the password restores the account.');
  await post('auth/restore', 200, credentials);

  say('23. A goodbye for good: ordered again. The days pass (the story ends them in MongoDB), and the worker erases.');
  await order();
  await endGrace(userId);
  const endedAt = performance.now();
  const { event, at, where } = await stack.waitForEvent(userId, 'service.auth.events.deleted');
  show('event', event);
  show('arrived', `${milliseconds(endedAt, at)} after the end of the grace, at ${where}`);
}

async function showMail(stack: DemoStack, to: string, subject: RegExp) {
  const mail = await stack.waitForMail(to, subject);
  show('mail', `"${mail.subject}" to ${mail.to}`);
  return mail;
}
