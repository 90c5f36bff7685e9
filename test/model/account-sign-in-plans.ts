import { linkIdentity, logInByProvider, newPerson, unlinkIdentity } from '../support/api/providers.ts';
import { stopBySession, stopByToken } from '../support/api/second-factor.ts';
import { eventually } from '../support/worker/worker-fixture.ts';
import { codeFor, confirmation, planAsk } from './account-changes.ts';
import { type Choice, callerOf, inGroup, type Plan, pick, reauthenticationOf, trustOf } from './account-sessions.ts';
import { outcomeOf } from './account-settle.ts';
import type { SignInOperation } from './account-sign-in.ts';
import { accountOf, nextName, type World } from './account-world.ts';

/** Limit for the identities that a course links, below the api's own for a day. */
const maxIdentities = 5;

const planLink: Plan = (world, choice) => {
  const reauthentication = reauthenticationOf(world, choice, 'identities');
  if (reauthentication === undefined || world.identitiesAsked >= maxIdentities) return;
  world.identitiesAsked += 1;
  const [identity, person] = [nextName(world, 'identity'), newPerson()];
  const send = async () => {
    const answer = await linkIdentity(
      world.fixture.api,
      callerOf(world, choice.device).tokens,
      person,
      reauthentication.body,
    );
    if (answer.status === 201) world.identities.set(identity, { id: answer.json.data.identity_id, person });
    return reauthentication.counted(answer);
  };
  return { operation: { kind: 'link an identity', identity, ...reauthentication.fields }, send };
};

/** Returns one of the account's identities, or, if `isOld`, one that was removed. */
function identityFor(world: World, choice: Choice): string | undefined {
  const present = Object.keys(accountOf(world).identities);
  const all = [...world.identities.keys()];
  return all.length === 0 ? undefined : pick(all, present[choice.which % Math.max(1, present.length)], choice);
}

const planUnlink: Plan = (world, choice) => {
  const [reauthentication, identity] = [reauthenticationOf(world, choice, 'identities'), identityFor(world, choice)];
  const held = world.identities.get(identity ?? '');
  if (reauthentication === undefined || identity === undefined || held === undefined) return;
  const { tokens } = callerOf(world, choice.device);
  const send = async () =>
    reauthentication.counted(await unlinkIdentity(world.fixture.api, tokens, held.id, reauthentication.body));
  return { operation: { kind: 'unlink an identity', identity, ...reauthentication.fields }, send };
};

const planLogIn: Plan = (world, choice) => {
  const identity = identityFor(world, choice);
  const held = world.identities.get(identity ?? '');
  if (identity === undefined || held === undefined) return;
  const { device } = choice;
  const session = nextName(world, 'session');
  const { trust, fields } = trustOf(world, device);
  const send = async () => {
    const body = { device_id: world.deviceIds[device], ...fields };
    const answer = await logInByProvider(world.fixture.api, held.person, body);
    if (answer.status === 200) world.sessions.set(session, { device, tokens: answer.json.data, streams: [] });
    const { challenge_id: id } = answer.json.details ?? {};
    if (id !== undefined) world.challenges.set(session, { id, device });
    return inGroup(answer);
  };
  return { operation: { kind: 'log in by identity', session, device, identity, ...(trust && { trust }) }, send };
};

const planOrder: Plan = (world, choice) => {
  const code = codeFor(world, 'second_factor_removal', choice);
  if (code === undefined) return;
  const order = nextName(world, 'order');
  const send = async () => outcomeOf(await world.fixture.api.confirmSecondFactorRemoval(confirmation(world, code)));
  return { operation: { kind: 'order the removal', code, order }, send };
};

const planStop: Plan = (world, { device }) => {
  const { caller, tokens } = callerOf(world, device);
  return {
    operation: { kind: 'stop the removal', caller },
    send: async () => outcomeOf(await stopBySession(world.fixture.api, tokens)),
  };
};

const planStopByMail: Plan = (world, { isOld, which }) => {
  const { order: present } = accountOf(world).factor?.removal ?? {};
  const known = [...world.stopTokens.keys()];
  const order = (isOld ? known[which % known.length] : undefined) ?? present;
  const token = world.stopTokens.get(order ?? '');
  if (order === undefined || token === undefined) return;
  const send = async () => outcomeOf(await stopByToken(world.fixture.api, token));
  return { operation: { kind: 'stop the removal by its mail', order }, send };
};

/** The time of the order is put back, and the worker finds it due. */
const planDue: Plan = (world) => {
  if (accountOf(world).factor?.removal === undefined) return;
  const { users } = world.fixture.api.collections;
  const send = async () => {
    const due = new Date(Date.now() - workersGraceMs);
    await users.updateOne({ _id: world.userId }, { $set: { 'totp.removal.due_at': due } });
    const gone = { _id: world.userId, totp: { $exists: false } };
    await eventually('the factor is removed', async () => (await users.countDocuments(gone)) === 1);
    return 'done';
  };
  return { operation: { kind: 'let the removal be due' }, send };
};

const workersGraceMs = 61_000;

/** Operations on identities, and on the removal of a lost second factor. */
export const signInPlans = {
  'link an identity': planLink,
  'unlink an identity': planUnlink,
  'log in by identity': planLogIn,
  'ask for a removal': planAsk('ask for a removal', 'second_factor_removal', 'requestSecondFactorRemoval'),
  'order the removal': planOrder,
  'stop the removal': planStop,
  'stop the removal by its mail': planStopByMail,
  'let the removal be due': planDue,
} satisfies Record<SignInOperation['kind'], Plan>;
