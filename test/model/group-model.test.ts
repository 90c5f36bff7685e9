import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { logIn, newEmail, password, type TokenPair } from '../support/api/accounts.ts';
import {
  accept,
  currentGroup,
  expectSound,
  handOver,
  insertInvite,
  leave,
  refresh,
  removeMember,
} from '../support/api/groups.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import type { Answer } from '../support/http-client.ts';
import { cheapHashes } from '../support/test-environment.ts';
import { type GroupModel, newGroupModel, type Outcome, type Person } from './group-model.ts';
import { newSeeds } from './new-seeds.ts';
import { showProgress } from './progress.ts';

/** Seconds for random courses; `npm run test:long model` asks for more. */
const seconds = Number(process.env.MODEL_SECONDS ?? 3);
const nextSeed = newSeeds();

const types = ['HOME', 'HOME', 'OFFICE', 'HOME'] as const;
/** The most members of a group, which is less than the number of people. */
const maxMembers = 3;

const person = fc.nat({ max: types.length - 1 });
const device = fc.nat({ max: 1 });
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('accept'), person, device, host: person, agreed: fc.constant(true) }),
  },
  fc.record({ kind: fc.constant('accept'), person, device, host: person, agreed: fc.boolean() }),
  fc.record({ kind: fc.constant('accept old'), person, device, group: fc.nat() }),
  fc.record({ kind: fc.constant('leave'), person, device }),
  fc.record({ kind: fc.constant('remove'), person, device, member: person }),
  fc.record({ kind: fc.constant('hand over'), person, device, member: person }),
  fc.record({ kind: fc.constant('log in'), person, device }),
  fc.record({ kind: fc.constant('refresh'), person, device }),
) as fc.Arbitrary<Step>;

type Step = { readonly person: Person; readonly device: number } & (
  | { readonly kind: 'accept'; readonly host: Person; readonly agreed: boolean }
  | { readonly kind: 'accept old'; readonly group: number }
  | { readonly kind: 'remove' | 'hand over'; readonly member: Person }
  | { readonly kind: 'leave' | 'log in' | 'refresh' }
);

/** A device with its tokens, and its user's number of moves when it got them. */
interface Device {
  readonly id: string;
  tokens: TokenPair;
  seen: number;
}

interface User {
  readonly id: string;
  readonly email: string;
  readonly devices: Device[];
}

interface World {
  readonly model: GroupModel;
  readonly users: readonly User[];
  /** The real id of each group of the model, its valid invite, and the model's number for this invite. */
  readonly real: { readonly id: string; readonly invite: string; readonly number: number }[];
}

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ ...cheapHashes, MAX_GROUP_MEMBERS: String(maxMembers) });
});
afterAll(() => api.close());

async function begin(): Promise<World> {
  const users: User[] = [];
  const real: World['real'] = [];
  for (const type of types) {
    const email = newEmail();
    const body = { email, password, space_creation_mode: `CREATE_NEW_${type}` };
    const { user_id, home_group_id } = (await api.registerAccount(body)).json.data;
    const devices: Device[] = [];
    for (const id of [randomUUID(), randomUUID()]) {
      devices.push({ id, tokens: await logIn(api, email, { device_id: id }), seen: 0 });
    }
    users.push({ id: user_id, email, devices });
    real.push({ id: home_group_id, invite: await insertInvite(api, home_group_id), number: 0 });
  }
  return { model: newGroupModel(types, maxMembers), users, real };
}

const outcomes: Record<string, Outcome> = {
  200: 'done',
  '400 IAD_GROUP_ALREADY_MEMBER': 'already member',
  '410 ERR-INVITE-TOKEN-INVALID': 'invite over',
  '403 ERR-GROUP-OWNER-REQUIRED': 'not the owner',
  '404 ERR-GROUP-MEMBER-NOT-FOUND': 'no such member',
};

function outcomeOf({ status, json }: Answer): Outcome | string {
  const key = status === 200 ? '200' : `${status} ${json.error_code}`;
  return outcomes[key] ?? key;
}

/** Gives each new group of the model its real id. */
async function nameGroups({ model, users, real }: World): Promise<void> {
  for (const [group, { members }] of [...model.groups.entries()].slice(real.length)) {
    const member = users[members[0] as Person] as User;
    const id = (await api.collections.users.findOne({ _id: member.id }))?.home_group_id as string;
    real[group] = { id, invite: await insertInvite(api, id), number: 0 };
  }
}

/** Creates a new invite for each group whose invite the model has ended. */
async function renewInvites({ model, real }: World): Promise<void> {
  for (const [group, { id, invite, number }] of real.entries()) {
    const now = model.groups[group]?.invite ?? number;
    if (now === number) continue;
    expect((await api.collections.invites.findOne({ _id: invite }))?.revoked_at).not.toBeNull();
    real[group] = { id, invite: await insertInvite(api, id), number: now };
  }
}

async function takeTokens(world: World, who: Person, held: Device, tokens: TokenPair): Promise<void> {
  held.tokens = tokens;
  held.seen = world.model.movesOf(who);
  expect(tokens.home_group_id).toBe(world.real[world.model.groupOf(who)]?.id);
}

/** Returns functions for the request and for the model's answer; undefined if the request needs no access token. */
function requestOf(world: World, step: Step, tokens: TokenPair): [() => Promise<Answer>, () => Outcome] | undefined {
  const { model, users, real } = world;
  const into = (group: number, agreed: boolean): [() => Promise<Answer>, () => Outcome] => {
    const body = { leave_current_group: agreed };
    const invite = real[group]?.invite ?? '';
    return [() => accept(api, tokens, invite, body), () => model.accept(step.person, group, agreed)];
  };
  if (step.kind === 'accept') return into(model.groupOf(step.host), step.agreed);
  if (step.kind === 'accept old') return into(step.group % real.length, true);
  if (step.kind === 'leave') return [() => leave(api, tokens), () => model.leave(step.person)];
  if (step.kind !== 'remove' && step.kind !== 'hand over') return undefined;
  const member = users[step.member] as User;
  if (step.kind === 'hand over') {
    return [() => handOver(api, tokens, member.id), () => model.handOver(step.person, step.member)];
  }
  return [() => removeMember(api, tokens, member.id), () => model.remove(step.person, step.member)];
}

async function take(world: World, step: Step): Promise<void> {
  const user = world.users[step.person] as User;
  const held = user.devices[step.device] as Device;
  const request = requestOf(world, step, held.tokens);
  if (step.kind === 'log in') {
    await takeTokens(world, step.person, held, await logIn(api, user.email, { device_id: held.id }));
  } else if (request === undefined) {
    await takeTokens(world, step.person, held, await refresh(api, held.tokens));
  } else if (held.seen !== world.model.movesOf(step.person)) {
    expect(outcomeOf(await request[0]())).toBe('401 IAD_JWT_ACCESS_INVALID');
  } else {
    const answer = await request[0]();
    expect(outcomeOf(answer)).toBe(request[1]());
    await nameGroups(world);
    await renewInvites(world);
  }
}

/** Refreshes every device, and asserts that it is in its user's group and sees there the members of the model. */
async function expectSame({ model, users, real }: World): Promise<void> {
  for (const [who, { devices }] of users.entries()) {
    const { type, owner, members } = model.groups[model.groupOf(who)] as GroupModel['groups'][number];
    for (const { tokens } of devices) {
      const { data } = (await currentGroup(api, await refresh(api, tokens))).json;
      expect([data.home_group_id, data.account_type]).toEqual([real[model.groupOf(who)]?.id, type]);
      expect(data.members.map(({ user_id, role }: { user_id: string; role: string }) => [user_id, role])).toEqual(
        members.map((member) => [users[member]?.id, member === owner ? 'owner' : 'member']),
      );
    }
  }
}

// guarantees: one-group-per-account
test(
  'people come, go and are removed in any order: everybody is where the model has them, and sees that',
  async () => {
    const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const world = await begin();
      for (const each of steps) await take(world, each);
      await expectSame(world);
    });
    const end = performance.now() + seconds * 1_000;
    let courses = 0;
    do {
      await fc.assert(property, { numRuns: 3, ...nextSeed() });
      courses += 3;
      showProgress(process.env.MODEL_SECONDS === undefined, { courses });
    } while (performance.now() < end);
    await expectSound(api);
  },
  300_000 + seconds * 2_000,
);
