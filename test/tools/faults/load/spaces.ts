import { randomUUID } from 'node:crypto';
import { type App, anyOf, type Person, type World } from './app.ts';
import { callOf, callUntilAnswered, violate } from './app-request.ts';
import { beginRegistration, type InviteRecord } from './ledger.ts';
import { callAuthorized } from './sessions.ts';

const maxInvitesTried = 30;

/** Returns one of the newest invites, most of which are valid. */
function findInvite({ ledger }: World, { random, groupId }: Person): InviteRecord | undefined {
  const newest = [...ledger.invites.values()].slice(-maxInvitesTried).filter((invite) => invite.groupId !== groupId);
  return newest.length === 0 ? undefined : anyOf(random, newest);
}

/**
 * Registers a user with a new household, a new office or an invite. Repeats the request with the same Idempotency-Key
 * until there is an answer.
 */
export async function register(world: World, person: Person): Promise<void> {
  const { holds, random } = person;
  const [{ email, password } = { email: '', password: '' }] = holds;
  const chance = random();
  const invite = chance < 0.4 ? findInvite(world, person) : undefined;
  const space_creation_mode = chance < 0.8 ? 'CREATE_NEW_HOME' : 'CREATE_NEW_OFFICE';
  const mode = invite ? { space_creation_mode: 'JOIN_EXISTING', invite_token: invite.token } : { space_creation_mode };
  const registration = beginRegistration(world.ledger, email, { invite: invite?.token, person });
  const call = callOf('register', 'registerAccount', { email, password, ...mode }, { idempotencyKey: randomUUID() });
  const { reply } = await callUntilAnswered({ world, person }, call);
  if (reply === undefined) return;
  if (reply.status === 201) {
    registration.outcome = 'acknowledged';
    registration.userId = String(reply.data.user_id);
    person.userId = registration.userId;
    person.account = { userId: person.userId, person, changes: [], former: [] };
    world.ledger.accounts.set(person.userId, person.account);
    registration.firstGroupId = String(reply.data.home_group_id);
    person.groupId = registration.firstGroupId;
    person.isOwner = invite === undefined;
    if (invite !== undefined && invite.groupId !== person.groupId) {
      world.history.violate('a registration by invite led into another group', { email, invite: invite.token });
    }
    return;
  }
  registration.outcome = 'refused';
  // A 409 would be wrong too: only the registration's own first attempt could have taken the email address.
  const isOver = invite !== undefined && isOverInvite(reply);
  if (!isOver) violate({ world, person }, 'a registration was refused', reply, { email });
}

const isOverInvite = ({ status }: { readonly status: number }) => status === 410 || status === 404;

export async function createInvite(app: App): Promise<void> {
  const { world, person } = app;
  const max_uses = person.random() < 0.5 ? null : 1 + Math.floor(person.random() * 3);
  const call = callOf('invite', 'createInvite', { max_uses }, { idempotencyKey: randomUUID() });
  const answered = await callAuthorized(app, call);
  const { groupId } = person;
  if (answered === undefined || groupId === undefined) return;
  const { status, data } = answered.reply;
  if (status === 201) {
    const token = String(data.invite_token);
    world.ledger.invites.set(token, { token, groupId, maxUses: max_uses, accepted: 0, perhapsAccepted: 0 });
  } else violate(app, 'an owner could not invite', answered.reply);
}

/** Moves into another group with an invite, or into a new household. */
export async function move(app: App): Promise<void> {
  const invite = app.person.random() < 0.6 ? findInvite(app.world, app.person) : undefined;
  await (invite === undefined ? leave(app) : accept(app, invite));
}

async function accept(app: App, invite: InviteRecord): Promise<void> {
  const { person } = app;
  const { groupId: former } = person;
  person.groupId = undefined;
  const call = callOf('accept', 'acceptInvite', { token: invite.token, leave_current_group: true });
  const answered = await callAuthorized(app, call);
  if (answered === undefined) {
    invite.perhapsAccepted += 1;
    return;
  }
  const { reply, wasUnsure } = answered;
  const isDone = reply.status === 200 || (reply.status === 400 && wasUnsure);
  if (isDone) {
    invite.accepted += 1;
    person.groupId = invite.groupId;
    person.isOwner = false;
  } else {
    person.groupId = former;
    if (!isOverInvite(reply)) violate(app, 'an invite was refused', reply, { ...invite });
  }
}

async function leave(app: App): Promise<void> {
  const { person } = app;
  person.groupId = undefined;
  const answered = await callAuthorized(app, callOf('leave', 'leaveGroup'));
  if (answered === undefined) return;
  const { reply } = answered;
  if (reply.status === 200) {
    person.groupId = String(reply.data.home_group_id);
    person.isOwner = true;
  } else violate(app, 'leaving was refused', reply);
}

/** Reads the account, which must match the app's earlier answers. */
export async function readAccount(app: App): Promise<void> {
  const { userId, holds } = app.person;
  const answered = await callAuthorized(app, callOf('read', 'findAccount', undefined, { sort: 'read' }));
  if (answered === undefined) return;
  const { status, data } = answered.reply;
  const isRight = data.user_id === userId && holds.some(({ email }) => email === data.email);
  if (status === 200 && isRight) return;
  violate(app, 'an account shows something else than its app knows', answered.reply, { email: data.email });
}

/** Reads the devices or the group, which must match the app's earlier answers. */
export async function read(app: App): Promise<void> {
  const { person, device } = app;
  const isGroup = person.random() < 0.5;
  const name = isGroup ? 'findCurrentGroup' : 'listSessions';
  const answered = await callAuthorized(app, callOf('read', name, undefined, { sort: 'read' }));
  if (answered === undefined || device.session === undefined) return;
  const { status, data } = answered.reply;
  const { groupId } = person;
  const { sessionId } = device.session;
  const isRight = isGroup
    ? groupId === undefined || data.home_group_id === groupId
    : Array.isArray(data.sessions) && data.sessions.some((session) => session.session_id === sessionId);
  if (status === 200 && isRight) return;
  violate(app, 'a read shows something else than the app knows', answered.reply, { name, groupId, sessionId });
}
