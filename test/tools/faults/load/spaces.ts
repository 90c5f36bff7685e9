import { randomUUID } from 'node:crypto';
import { requestTo } from '../../../support/api/api-driver.ts';
import { type App, anyOf, callUntilAnswered, type Person, type World } from './app.ts';
import type { InviteRecord, Registration } from './ledger.ts';
import { callAuthorized, pick } from './sessions.ts';

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
  const idempotencyKey = randomUUID();
  const registration: Registration = { email, invite: invite?.token, person, outcome: 'unknown' };
  world.ledger.registrations.set(email, registration);
  const body = { email, password, ...mode };
  const request = () => ({ ...requestTo('registerAccount', body), idempotencyKey });
  const { reply } = await callUntilAnswered({ world, person }, { kind: 'register', sort: 'write', request });
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
  const isOver = invite !== undefined && (reply.status === 410 || reply.status === 404);
  if (!isOver) world.history.violate('a registration was refused', { email, ...pick(reply) });
}

export async function createInvite(app: App): Promise<void> {
  const { world, person } = app;
  const max_uses = person.random() < 0.5 ? null : 1 + Math.floor(person.random() * 3);
  const idempotencyKey = randomUUID();
  const request = () => ({ ...requestTo('createInvite', { max_uses }), idempotencyKey });
  const answered = await callAuthorized(app, { kind: 'invite', sort: 'write', request });
  if (answered === undefined) return;
  const { status, data } = answered.reply;
  const { groupId } = person;
  if (status === 201 && groupId !== undefined) {
    const token = String(data.invite_token);
    world.ledger.invites.set(token, { token, groupId, maxUses: max_uses, accepted: 0, perhapsAccepted: 0 });
  } else if (groupId !== undefined) {
    world.history.violate('an owner could not invite', { person: person.id, ...pick(answered.reply) });
  }
}

/** Moves into another group with an invite, or into a new household. */
export async function move(app: App): Promise<void> {
  const invite = app.person.random() < 0.6 ? findInvite(app.world, app.person) : undefined;
  await (invite === undefined ? leave(app) : accept(app, invite));
}

async function accept(app: App, invite: InviteRecord): Promise<void> {
  const { world, person } = app;
  const { groupId: former } = person;
  person.groupId = undefined;
  const request = () => requestTo('acceptInvite', { token: invite.token, leave_current_group: true });
  const answered = await callAuthorized(app, { kind: 'accept', sort: 'write', request });
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
    const isOver = reply.status === 410 || reply.status === 404;
    if (!isOver) world.history.violate('an invite was refused', { person: person.id, ...invite, ...pick(reply) });
  }
}

async function leave(app: App): Promise<void> {
  const { world, person } = app;
  person.groupId = undefined;
  const request = () => requestTo('leaveGroup');
  const answered = await callAuthorized(app, { kind: 'leave', sort: 'write', request });
  if (answered === undefined) return;
  const { reply } = answered;
  if (reply.status === 200) {
    person.groupId = String(reply.data.home_group_id);
    person.isOwner = true;
  } else world.history.violate('leaving was refused', { person: person.id, ...pick(reply) });
}

/** Reads the account, which must match the app's earlier answers. */
export async function readAccount(app: App): Promise<void> {
  const { world, person } = app;
  const request = () => requestTo('findAccount');
  const answered = await callAuthorized(app, { kind: 'read', sort: 'read', request });
  if (answered === undefined) return;
  const { status, data } = answered.reply;
  const isRight = data.user_id === person.userId && person.holds.some(({ email }) => email === data.email);
  if (status === 200 && isRight) return;
  const detail = { person: person.id, email: data.email, ...pick(answered.reply) };
  world.history.violate('an account shows something else than its app knows', detail);
}

/** Reads the devices or the group, which must match the app's earlier answers. */
export async function read(app: App): Promise<void> {
  const { world, person, device } = app;
  const isGroup = person.random() < 0.5;
  const name = isGroup ? 'findCurrentGroup' : 'listSessions';
  const answered = await callAuthorized(app, { kind: 'read', sort: 'read', request: () => requestTo(name) });
  if (answered === undefined || device.session === undefined) return;
  const { status, data } = answered.reply;
  const { groupId } = person;
  const { sessionId } = device.session;
  const isRight = isGroup
    ? groupId === undefined || data.home_group_id === groupId
    : Array.isArray(data.sessions) && data.sessions.some((session) => session.session_id === sessionId);
  if (status !== 200 || !isRight) {
    const detail = { person: person.id, name, groupId, sessionId, ...pick(answered.reply) };
    world.history.violate('a read shows something else than the app knows', detail);
  }
}
