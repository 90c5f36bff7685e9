import { expect } from '@jest/globals';
import fc from 'fast-check';
import { changePlans } from './account-changes.ts';
import { factorPlans } from './account-factor-plans.ts';
import type { Operation } from './account-model.ts';
import { type Choice, isLoggedIn, type Plan, type Purpose, purposes, sessionPlans } from './account-sessions.ts';
import { outcomeOf } from './account-settle.ts';
import { signInPlans } from './account-sign-in-plans.ts';
import { accountOf, take, type World } from './account-world.ts';

type Kind = Operation['kind'];

const plans: Readonly<Record<Kind, Plan>> = { ...sessionPlans, ...changePlans, ...factorPlans, ...signInPlans };
const kinds = Object.keys(plans) as Kind[];

/** A step-up for the purpose, which is possible only while the second factor is on. */
const stepUpFor = (purpose: Purpose) => ({ kind: 'step up', which: purposes.indexOf(purpose) }) as const;

const factorOn = ['begin an app', 'confirm the app'] as const;
const orderIt = [...factorOn, 'ask for a removal', 'order the removal'] as const;

/** Operations that must come before, if the account has nothing that allows the operation. */
const needs: Partial<Readonly<Record<Kind, readonly (Kind | Pick<Choice, 'kind' | 'which'>)[]>>> = {
  'reset the password': ['ask for a reset'],
  'order the deletion by code': ['ask for a deletion'],
  'ask for a change of address': [stepUpFor('email_change')],
  'change the address': [stepUpFor('email_change'), 'ask for a change of address'],
  'undo a change of address': [stepUpFor('email_change'), 'ask for a change of address', 'change the address'],
  'change the password': [stepUpFor('password')],
  'order the deletion': [stepUpFor('deletion')],
  'begin an app': [stepUpFor('totp')],
  'confirm the app': [stepUpFor('totp'), 'begin an app'],
  'switch the factor off': [stepUpFor('totp')],
  'complete the login': ['log in'],
  'add a passkey': [stepUpFor('passkeys')],
  'remove a passkey': [stepUpFor('passkeys'), 'add a passkey'],
  'log in by passkey': [stepUpFor('passkeys'), 'add a passkey'],
  'link an identity': [stepUpFor('identities')],
  'unlink an identity': [stepUpFor('identities'), 'link an identity'],
  'log in by identity': [stepUpFor('identities'), 'link an identity'],
  'order the removal': [...factorOn, 'ask for a removal'],
  'stop the removal by its mail': orderIt,
  'let the removal be due': orderIt,
};

/** Carries out, at the same time, those of the operations that the account's state allows. */
async function takeTogether(world: World, choices: readonly Choice[]): Promise<void> {
  const planned = choices.flatMap((choice) => {
    const plan = plans[choice.kind](world, choice);
    return plan === undefined ? [] : [{ ...plan, afterMs: choice.afterMs }];
  });
  if (planned.length > 0) await take(world, planned);
}

const alone = (kind: Kind, device = 0): Choice => ({ kind, device, which: 0, isOld: false, afterMs: 0 });

/** Makes logins possible again, and logs in on the devices of these operations. */
async function revive(world: World, choices: readonly Choice[]): Promise<void> {
  const { isDisabled, isLeaving, password } = accountOf(world);
  if (isDisabled) await takeTogether(world, [alone('enable')]);
  if (password === undefined) {
    await takeTogether(world, [alone('ask for a reset')]);
    await takeTogether(world, [alone('reset the password')]);
  }
  if (isLeaving) await takeTogether(world, [alone('restore')]);
  await logInOn(world, new Set(choices.map(({ device }) => device).filter((device) => !isLoggedIn(world, device))));
}

/** Logs in on the devices, with the second factor if it is on. */
async function logInOn(world: World, devices: Iterable<number>): Promise<void> {
  for (const kind of ['log in', 'complete the login'] as const) {
    const left = [...devices].filter((device) => kind === 'log in' || !isLoggedIn(world, device));
    await takeTogether(
      world,
      left.map((device) => alone(kind, device)),
    );
  }
}

/** A step of a course, with operations that run at the same time. */
export interface Step {
  readonly isRevived: boolean;
  readonly choices: readonly Choice[];
}

export async function takeStep(world: World, { isRevived, choices }: Step): Promise<void> {
  if (isRevived) await revive(world, choices);
  for (const choice of choices) {
    if (plans[choice.kind](world, choice) !== undefined) continue;
    for (const need of needs[choice.kind] ?? []) {
      const { device } = choice;
      await takeTogether(world, [
        typeof need === 'string' ? alone(need, device) : { ...alone(need.kind, device), ...need },
      ]);
    }
  }
  const { changes } = accountOf(world);
  // The worker's removal takes effect in two moments, so nothing comes between them.
  const due = choices.find(({ kind }) => kind === 'let the removal be due');
  await takeTogether(world, due === undefined ? choices.filter(isOnlyRefresh) : [due]);
  if (accountOf(world).changes === changes) return;
  await expectOldToBeDead(world);
  await logInOn(world, [2]);
}

/** Returns false for a refresh beside another of its device: beside a loop, a slow one looks like a thief's. */
function isOnlyRefresh({ kind, device }: Choice, index: number, all: readonly Choice[]): boolean {
  const isRefresh = (each: Choice) => each.kind.startsWith('refresh') && each.device === device;
  return !kind.startsWith('refresh') || all.findIndex(isRefresh) === index;
}

/** Asserts that somebody else can log in with neither an earlier password nor an earlier email address. */
async function expectOldToBeDead(world: World): Promise<void> {
  const { email, password } = accountOf(world);
  const tries = [
    ...world.passwords.filter((old) => old !== password).map((old) => ({ email, password: old })),
    ...world.emails.filter((old) => old !== email).map((old) => ({ email: old, password: password ?? 'nothing' })),
  ];
  for (const body of tries.slice(-3)) {
    const part = () => Math.floor(Math.random() * 254) + 1;
    const headers = { 'X-Forwarded-For': `198.${part()}.${part()}.${part()}` };
    const answer = await world.fixture.api.logIn(body, headers);
    expect(outcomeOf(answer)).toBe('401 ERR-INVALID-CREDENTIALS');
  }
}

const choice: fc.Arbitrary<Choice> = fc.record({
  kind: fc.constantFrom(...kinds),
  device: fc.nat(2),
  which: fc.nat(5),
  isOld: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.constant(true)),
  afterMs: fc.oneof(fc.constant(0), fc.nat(15)),
});

const step: fc.Arbitrary<Step> = fc.record({
  isRevived: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, fc.constant(false)),
  choices: fc.array(choice, { minLength: 1, maxLength: 4 }),
});

export const course = fc.array(step, { minLength: 3, maxLength: 12 });

/** Operations after which sessions have ended. */
const changes = [
  'reset the password',
  'change the password',
  'change the address',
  'undo a change of address',
  'order the deletion',
  'order the deletion by code',
  'disable',
  'confirm the app',
  'add a passkey',
  'link an identity',
] as const;

const inRace = ['log in', 'refresh', 'move', 'log out'] as const;
const inStorm = ['refresh in a loop', 'refresh in a loop', 'refresh in a loop'] as const;

/**
 * Steps that race each of these changes with others, while streams and a code are open. Every run of the suite has
 * them.
 */
export const tour: readonly Step[] = [
  ...changes.flatMap(raced),
  { isRevived: true, choices: [alone('order the removal'), alone('log in by identity', 1), alone('log in', 2)] },
  { isRevived: true, choices: [alone('stop the removal by its mail'), alone('unlink an identity', 1)] },
  { isRevived: true, choices: [alone('let the removal be due')] },
];

function raced(kind: Kind): Step[] {
  return [
    { isRevived: true, choices: [alone('open a stream'), alone('open a stream', 1), alone('ask for a reset')] },
    { isRevived: true, choices: [alone(kind), ...inRace.map((each, index) => alone(each, 1 + (index % 2)))] },
    {
      isRevived: true,
      choices: inStorm.map((each, device) => alone(each, device)).concat({ ...alone(kind), afterMs: 20 }),
    },
  ];
}
