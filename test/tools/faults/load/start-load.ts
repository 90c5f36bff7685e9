import { createRandom } from '../../../model/simulate-refresh.ts';
import { type App, anyOf, anyWeighted, createDevice, createPerson, type Person, type World } from './app.ts';
import { endAppConnections } from './app-request.ts';
import {
  arrivedCode,
  askForCode,
  askForEmail,
  changeEmail,
  changePassword,
  resetPassword,
  undoEmail,
} from './credential-changes.ts';
import { heldBy, isSettled, tryFormer } from './credentials.ts';
import { confirmDeletion, faceDeletion, orderDeletion } from './deletions.ts';
import type { ChangeKind } from './ledger.ts';
import { openStream } from './push.ts';
import { logIn, logInAgain, logOut, logOutAll, refresh } from './sessions.ts';
import { createInvite, move, read, readAccount, register } from './spaces.ts';

export interface LoadOptions {
  readonly seed: number;
  /** Number of actions that apps start per second. */
  readonly rate: number;
  /** The most active users. In an outage each repeats a request every few seconds, so this bounds the load. */
  readonly population: number;
}

export type Load = ReturnType<typeof startLoad>;

type Step = readonly [weight: number, run: (app: App) => Promise<unknown>, isPossible?: (app: App) => boolean];

/** Returns true if no change of the user's account is in doubt, so that another may begin. */
const hasSettledAccount = ({ person }: App) => isSettled(person);

/** Changes that verify the email address. Without such a change, a deletion by code makes the password unusable. */
const proofs: readonly ChangeKind[] = ['reset', 'email_changed', 'email_undone'];
const hasVerifiedEmail = ({ person }: App) =>
  person.account?.changes.some(({ kind, outcome }) => outcome === 'done' && proofs.includes(kind)) === true;

const steps: readonly Step[] = [
  [30, refresh],
  [20, read],
  [5, readAccount],
  [25, openStream, ({ device }) => device.stream?.isOpen() !== true],
  [9, logOut],
  [3, logOutAll],
  [3, logInAgain],
  [6, move, ({ person }) => person.groupId !== undefined],
  [6, createInvite, ({ person }) => person.isOwner && person.groupId !== undefined],
  [3, changePassword, hasSettledAccount],
  [3, (app) => askForCode(app, 'password_reset'), hasSettledAccount],
  [3, askForEmail, hasSettledAccount],
  [1, (app) => askForCode(app, 'account_deletion'), (app) => hasSettledAccount(app) && hasVerifiedEmail(app)],
  [1, orderDeletion, hasSettledAccount],
  [1, tryFormer, ({ person }) => person.account?.former.length !== 0],
];

/** Share of registrations in all actions. */
const newcomers = 0.12;

function chooseStep(app: App): Step[1] {
  const possible = steps.filter(([, , isPossible]) => isPossible?.(app) ?? true);
  return anyWeighted(app.person.random, possible)[1];
}

function newcomer(id: number, seed: number): Person {
  const random = createRandom(seed * 1_000_003 + id);
  const devices = Array.from({ length: random() < 0.3 ? 2 : 1 }, createDevice);
  const timeoutMs = 10_000 + Math.floor(random() * 10_000);
  return createPerson(id, { random, devices, timeoutMs, stepsLeft: 10 + Math.floor(random() * 40) });
}

/** Forgets the device's session, whose state is in doubt, and logs in. */
async function startAfresh(app: App): Promise<void> {
  if (app.device.session?.state === 'live') app.device.session.state = 'unsure';
  app.device.session = undefined;
  app.device.stream = undefined;
  await logIn(app);
}

/** Continues what the user waits for, if the mailed code or token has arrived. Otherwise returns false. */
async function runErrand(app: App): Promise<boolean> {
  const { world, person, device } = app;
  const code = arrivedCode(app);
  const { errand, wantedEmail } = person;
  if (errand !== undefined && code !== undefined) {
    if (errand.purpose === 'password_reset') await resetPassword(app, errand, code);
    else if (errand.purpose === 'account_deletion') await confirmDeletion(app, errand, code);
    else if (device.session?.state === 'live') await changeEmail(app, errand, code);
    else return false;
    return true;
  }
  const token = wantedEmail === undefined ? undefined : world.mailbox.takeUndoToken(wantedEmail);
  if (wantedEmail === undefined || token === undefined) return false;
  await undoEmail(app, wantedEmail, token);
  return true;
}

/** Does the user's next action on the app's device. */
async function act(app: App): Promise<void> {
  const { person, device } = app;
  if (person.deletion !== undefined) await faceDeletion(app);
  else if (person.holds.length > 1) await startAfresh(app);
  else if (await runErrand(app)) return;
  else if (heldBy(person).password === undefined) {
    if (person.errand === undefined) await askForCode(app, 'password_reset');
  } else if (device.session === undefined) await logIn(app);
  // A logout without an answer is repeated before anything else.
  else if (device.session.state === 'unsure') await logOut(app);
  else await chooseStep(app)(app);
}

/** Ends a user's activity. Half of the users first log out of everything; the others only end their apps. */
async function retire(world: World, person: Person): Promise<void> {
  const apps = person.devices.map((device) => ({ world, person, device }));
  const loggedIn = apps.find(({ device }) => device.session !== undefined);
  if (loggedIn !== undefined && person.random() < 0.5) await logOutAll(loggedIn);
  for (const { device } of apps) device.stream?.terminate();
}

/**
 * Starts a load of random users who come, act at a steady rate, and leave. A seed does not repeat the load, because the
 * services and faults determine which users are idle and how often a request is repeated.
 */
export function startLoad(world: World, { seed, rate, population }: LoadOptions) {
  const random = createRandom(seed);
  const people = new Set<Person>();
  const idle = new Set<Person>();
  const underWay = new Set<Promise<void>>();
  let ids = 0;

  async function step(person: Person): Promise<void> {
    if (person.userId === undefined) {
      await register(world, person);
      if (person.userId === undefined) person.stepsLeft = 0;
      return;
    }
    person.stepsLeft -= 1;
    const app = { world, person, device: anyOf(person.random, person.devices) };
    await act(app);
    if (person.stepsLeft <= 0) await retire(world, person);
  }

  function begin(person: Person): void {
    idle.delete(person);
    people.add(person);
    const work = step(person).then(() => {
      underWay.delete(work);
      if (person.stepsLeft > 0) idle.add(person);
      else people.delete(person);
    });
    underWay.add(work);
  }

  const timer = setInterval(() => {
    const isNewcomer = idle.size === 0 || random() < newcomers;
    if (isNewcomer && people.size < population) {
      ids += 1;
      begin(newcomer(ids, seed));
    } else if (idle.size > 0) begin(anyOf(random, [...idle]));
  }, 1_000 / rate);

  return {
    /** The active users, with their apps. */
    people: people as ReadonlySet<Person>,
    /** Starts no more actions, and waits for the running ones. After `patienceMs`, apps no longer wait for answers. */
    async finish(patienceMs: number) {
      clearInterval(timer);
      const impatience = setTimeout(() => {
        world.isOver = true;
      }, patienceMs);
      await Promise.all(underWay);
      clearTimeout(impatience);
    },
    /** Ends every app. */
    close() {
      clearInterval(timer);
      world.isOver = true;
      for (const { devices } of people) for (const { stream } of devices) stream?.terminate();
      endAppConnections();
    },
  };
}
