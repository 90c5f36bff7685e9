import type { TokenPair } from '../../../support/api/accounts.ts';
import type { App, Device } from './app.ts';
import { type Answered, type Call, callOf, callUntilAnswered, type Reply, violate } from './app-request.ts';
import { meetDeletion, meetLogin, settle } from './credentials.ts';
import type { Credentials, SessionRecord } from './ledger.ts';

/** The state of a session after a refresh. */
export type Refreshed = 'refreshed' | 'over' | 'unanswered';

/** Stores the tokens in the answer to a login or a refresh. */
function takeTokens(app: App, { data }: Reply): void {
  const { world, person, device } = app;
  const tokens = data as unknown as TokenPair & { readonly user_id: string };
  const { sessions } = world.ledger;
  const { session_id: sessionId, access_token: accessToken, push_stream_path: streamPath } = tokens;
  const { user_id: userId, refresh_token: refreshToken } = tokens;
  const ids = { sessionId, userId, deviceId: device.deviceId, streamPath };
  const record = sessions.get(sessionId) ?? { ...ids, accessToken, refreshToken, state: 'live', streams: new Set() };
  Object.assign(record, { accessToken, refreshToken });
  sessions.set(sessionId, record);
  device.session = record;
  device.refreshToken = refreshToken;
  device.mustRefresh = false;
  if (person.userId !== undefined && person.userId !== userId)
    violate(app, 'tokens of another user', {}, { sessionId });
  const { groupId } = person;
  if (groupId !== undefined && groupId !== tokens.home_group_id) {
    violate(app, 'tokens name another group than the app knows', {}, { groupId, sessionId });
  }
}

/** Records that this device's session has ended, because an answer said so or the app itself ended it. */
function endSession({ world, device }: App): void {
  const { session } = device;
  if (session === undefined) return;
  session.state = 'ended';
  session.endedAt ??= world.history.now();
  device.session = undefined;
  device.stream = undefined;
}

async function sendLogin(app: App, pair: Credentials): Promise<Reply | undefined> {
  const input = { ...pair, device_id: app.device.deviceId, device_name: 'Phone', platform: 'android' };
  return (await callUntilAnswered(app, callOf('login', 'logIn', input))).reply;
}

/** Tries each possible pair of email address and password, until an answer shows which pair is valid. */
export async function logIn(app: App): Promise<void> {
  const { person } = app;
  let refusal: Reply | undefined;
  for (const pair of person.holds.filter(({ password }) => password !== undefined)) {
    const reply = await sendLogin(app, pair);
    if (reply === undefined) return;
    if (reply.status === 200) {
      settle(person, pair);
      meetLogin(app);
      takeTokens(app, reply);
      return;
    }
    if (reply.code === 'ERR-ACCOUNT-DELETION-SCHEDULED') {
      settle(person, pair);
      meetDeletion(app, reply);
      return;
    }
    refusal = reply;
    if (reply.status !== 401) break;
  }
  const revoked = person.holds.find(({ password }) => password === undefined);
  if (refusal?.status === 401 && person.deletion !== undefined) meetDeletion(app, refusal);
  else if (refusal?.status === 401 && revoked !== undefined) settle(person, revoked);
  else if (refusal !== undefined) violate(app, 'a right password was refused', refusal);
}

/** Marks the sessions of the user's devices, except `spare`, because a request may end them. */
export function doubtSessions({ person }: App, spare?: Device): void {
  for (const device of person.devices) {
    if (device !== spare && device.session !== undefined) device.session.state = 'unsure';
  }
}

/** Records that the sessions of the user's devices, except `spare`, have ended, as the app knows. */
export function endSessions({ world, person }: App, spare?: Device): void {
  for (const device of person.devices) if (device !== spare) endSession({ world, person, device });
}

/** Logs in on a device that is logged in. The new session replaces the present one, whose stream closes with 4005. */
export async function logInAgain(app: App): Promise<void> {
  const { world, device } = app;
  const { session: former, stream } = device;
  if (former === undefined) return;
  former.state = 'unsure';
  former.isReplaced = true;
  await logIn(app);
  former.isReplaced = device.session !== former;
  if (!former.isReplaced) return;
  former.state = 'ended';
  former.endedAt = world.history.now();
  if (device.stream === stream) device.stream = undefined;
}

/** Refreshes with one token until there is an answer. A 401 is right only if the app may have ended the session. */
export async function refresh(app: App): Promise<Refreshed> {
  const { device } = app;
  const call = callOf('refresh', 'refreshTokens', () => ({ refresh_token: device.refreshToken }));
  const { reply } = await callUntilAnswered(app, call);
  if (reply === undefined) return 'unanswered';
  if (reply.status === 200) {
    takeTokens(app, reply);
    return 'refreshed';
  }
  if (device.session?.state === 'live') {
    violate(app, 'a good client was logged out', reply, { sessionId: device.session.sessionId });
  }
  endSession(app);
  return 'over';
}

/**
 * Sends a request that ends the sessions of the user's other devices, while these refresh as fast as the apis answer.
 * Their refreshes must not delay the request. The caller must have marked those sessions as unsure.
 */
export async function sendWhileOthersRefresh<T>(app: App, send: () => Promise<T>): Promise<T> {
  const { person, device: own } = app;
  let isAnswered = false;
  const loops = person.devices
    .filter((device) => device !== own && device.session !== undefined)
    .map(async (device) => {
      while (!isAnswered && (await refresh({ ...app, device })) === 'refreshed');
    });
  const answer = await send().finally(() => {
    isAnswered = true;
  });
  await Promise.all(loops);
  return answer;
}

const maxRounds = 8;

/**
 * Sends a request with the device's access token. After a 401 it refreshes and repeats the request, as the catalogue
 * says. Returns undefined if there is no answer, or no session any more.
 */
export async function callAuthorized(
  app: App,
  call: Call,
): Promise<(Answered & { readonly reply: Reply }) | undefined> {
  const { device } = app;
  let wasUnsure = false;
  for (let round = 0; round < maxRounds; round += 1) {
    if (device.mustRefresh && (await refresh(app)) !== 'refreshed') return undefined;
    const accessToken = device.session?.accessToken ?? '';
    const answered = await callUntilAnswered(app, { ...call, request: () => ({ ...call.request(), accessToken }) });
    const { reply } = answered;
    wasUnsure ||= answered.wasUnsure;
    if (reply === undefined) return undefined;
    if (reply.status !== 401) return { reply, wasUnsure };
    device.mustRefresh = true;
  }
  return undefined; // the processes' clocks differ by more than a token's life
}

/** Returns the device's session, with a token that was not refused; undefined if there is none any more. */
async function freshSession(app: App): Promise<SessionRecord | undefined> {
  const { device } = app;
  if (device.session !== undefined && device.mustRefresh && (await refresh(app)) !== 'refreshed') return;
  return device.session;
}

export async function logOut(app: App): Promise<void> {
  const { device } = app;
  const session = await freshSession(app);
  if (session === undefined) return;
  const isRepeated = session.state === 'unsure';
  session.state = 'unsure';
  const call = callOf('logout', 'logOut', () => ({ refresh_token: device.refreshToken }));
  const answered = await callAuthorized(app, call);
  if (answered === undefined) return;
  const { reply, wasUnsure } = answered;
  if (reply.status !== 200 && !(reply.status === 404 && (wasUnsure || isRepeated))) {
    violate(app, 'a logout was refused', reply, { sessionId: session.sessionId });
  }
  endSession(app);
}

/** Ends the sessions of all devices of the user. */
export async function logOutAll(app: App): Promise<void> {
  const session = await freshSession(app);
  if (session === undefined) return;
  const wasLive = session.state === 'live';
  doubtSessions(app);
  const answered = await callAuthorized(app, callOf('logout-all', 'logOutAll', {}));
  // After a lost answer, a refresh that finds this device's session ended counts as the answer, unless an earlier
  // request may have ended only this session.
  const isDone = answered === undefined ? wasLive && app.device.session === undefined : answered.reply.status === 200;
  if (isDone) endSessions(app);
  else if (answered !== undefined) violate(app, 'a logout of all was refused', answered.reply);
}
