import { randomUUID } from 'node:crypto';
import { waitUntil } from '@auth-account/local-stack';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { logIn, logOut, newEmail, newSession, password } from '../support/api/accounts.ts';
import { bearer } from '../support/api/api-driver.ts';
import { joinBy, newInvite } from '../support/api/invites.ts';
import { insertSessionsBeside } from '../support/api/session-document.ts';
import { startTestStack, type TestStack } from '../support/processes/test-stack.ts';
import { cheapHashes } from '../support/test-environment.ts';

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack(cheapHashes);
});
afterAll(() => stack.close());

test('the main path through three processes: register, event, log in, stream, refresh, log out, close', async () => {
  const email = newEmail();
  const requestId = `phone-${randomUUID()}`;
  const registered = await stack.registerAccount(
    { email, password, space_creation_mode: 'CREATE_NEW_OFFICE' },
    { 'X-Request-ID': requestId },
  );
  expect(registered.status).toBe(201);
  const { user_id, home_group_id } = registered.json.data;

  const { event, headers } = await stack.receiver.waitFor(user_id);
  expect(event).toMatchObject({ type: 'service.auth.events.registered', requestid: requestId, subject: user_id });
  expect(event.data).toMatchObject({ user_id, home_group_id, account_type: 'OFFICE', is_new_group: true });
  expect(headers['webhook-id']).toBe(event.id);
  expect(headers['x-request-id']).toBe(requestId);
  await waitUntil(async () => (await stack.collections.outbox.findOne({ _id: event.id }))?.state === 'delivered', {
    what: 'the outbox row to be delivered',
    timeoutMs: 60_000,
  });

  const tokens = await logIn(stack, email);
  const stream = await stack.openStream(tokens);
  expect(stream.hello).toMatchObject({ type: 'hello', session_id: tokens.session_id, home_group_id });

  const refreshed = await stack.refreshTokens({ refresh_token: tokens.refresh_token });
  expect(refreshed.status).toBe(200);
  expect(stream.isOpen()).toBe(true);

  const answer = await logOut(stack, refreshed.json.data);
  expect(answer.status).toBe(200);
  expect(await stream.closed).toMatchObject({ code: 1000, reason: 'LOGOUT_CONFIRMED' });

  await expect(stack.openStream(tokens)).rejects.toThrow('401');
  const repeated = await logOut(stack, refreshed.json.data);
  expect(repeated.status).toBe(404);
  expect((await stack.refreshTokens(refreshed.json.data)).json.error_code).toBe('IAD_JWT_REFRESH_STOLEN');
});

// guarantees: logout-closes-own-stream
test('logout closes the stream of the calling device, and no other of the user or the group', async () => {
  const phone = await newSession(stack);
  const tablet = await logIn(stack, phone.email);
  const [phoneStream, tabletStream] = await Promise.all([stack.openStream(phone), stack.openStream(tablet)]);
  expect((await logOut(stack, phone)).status).toBe(200);
  expect(await phoneStream.closed).toMatchObject({ code: 1000 });
  expect(tabletStream.isOpen()).toBe(true);
  expect((await logOut(stack, tablet)).status).toBe(200);
  expect(await tabletStream.closed).toMatchObject({ code: 1000 });
});

// guarantees: login-closes-streams
test('a new login on a device closes the stream of the session before it with 4005 SESSION_REPLACED', async () => {
  const device_id = randomUUID();
  const before = await newSession(stack, { device_id });
  const stream = await stack.openStream(before);
  const after = await logIn(stack, before.email, { device_id });
  expect(await stream.closed).toMatchObject({ code: 4005, reason: 'SESSION_REPLACED' });
  await expect(stack.openStream(before)).rejects.toThrow('401');
  expect((await stack.openStream(after)).hello).toMatchObject({ session_id: after.session_id });
});

// guarantees: login-closes-streams
test('a login past the limit of 50 sessions closes the stream of the one unused for longest with 4001 SESSION_REVOKED', async () => {
  const oldest = await newSession(stack);
  const stream = await stack.openStream(oldest);
  await insertSessionsBeside(stack.collections, oldest.session_id, 49);
  await logIn(stack, oldest.email);
  expect(await stream.closed).toMatchObject({ code: 4001, reason: 'SESSION_REVOKED' });
});

test('logout-all closes the caller’s stream with 1000 and the others with 4001, and their tokens open no stream again', async () => {
  const phone = await newSession(stack);
  const tablet = await logIn(stack, phone.email);
  const [phoneStream, tabletStream] = await Promise.all([stack.openStream(phone), stack.openStream(tablet)]);
  const authorization = bearer(phone);
  expect((await stack.logOutAll({}, authorization)).status).toBe(200);
  expect(await phoneStream.closed).toMatchObject({ code: 1000, reason: 'LOGOUT_CONFIRMED' });
  expect(await tabletStream.closed).toMatchObject({ code: 4001, reason: 'SESSION_REVOKED' });
  await expect(stack.openStream(tablet)).rejects.toThrow('401');
});

test('a move by invite closes the user’s streams with 4004 and no other, and a refresh leads into the new group', async () => {
  const [owner, phone] = [await newSession(stack), await newSession(stack)];
  const tablet = await logIn(stack, phone.email);
  const ownerStream = await stack.openStream(owner);
  const streams = await Promise.all([stack.openStream(phone), stack.openStream(tablet)]);
  const token = await newInvite(stack, owner);
  const joined = await joinBy(stack, token);
  expect(joined.json.data).toMatchObject({ home_group_id: owner.home_group_id, account_type: 'HOME' });

  const accept = (access_token: string) =>
    stack.acceptInvite({ token, leave_current_group: true }, bearer(access_token));
  const moved = await accept(phone.access_token);
  expect(moved.json.data).toMatchObject({ home_group_id: owner.home_group_id, role: 'member' });
  for (const stream of streams) {
    expect(await stream.closed).toMatchObject({ code: 4004, reason: 'GROUP_CHANGED' });
  }
  expect(ownerStream.isOpen()).toBe(true);
  // The api and the gateway both refuse the old tokens, but every session goes on.
  expect((await accept(phone.access_token)).json.error_code).toBe('IAD_JWT_ACCESS_INVALID');
  for (const device of [phone, tablet]) {
    await expect(stack.openStream(device)).rejects.toThrow('401');
    const { refresh_token } = device;
    const tokens = (await stack.refreshTokens({ refresh_token })).json.data;
    const { session_id } = device;
    expect(tokens).toMatchObject({ session_id, home_group_id: owner.home_group_id });
    const stream = await stack.openStream(tokens);
    expect(stream.hello).toMatchObject({ session_id, home_group_id: owner.home_group_id });
  }
});
