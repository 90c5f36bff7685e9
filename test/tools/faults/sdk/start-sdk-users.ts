import { setTimeout as sleep } from 'node:timers/promises';
import { anyWeighted, createLives, type Range, rest, type World } from '../load/app.ts';
import { type Action, addSignInMethod, lacksSignInMethod, logIn, logOut, move, read, register } from './actions.ts';
import { createSdkUser, type Household, killApp, type SdkUser, startApp, stateOf } from './sdk-user.ts';

/** Users of the client who use their apps as usual while things break. */
export type SdkUsers = ReturnType<typeof startSdkUsers>;

/** Number of users. */
const count = 24;
/** The shortest and longest milliseconds between two of a user's actions, and those for which a state lasts. */
const pauseMs: Range = [1_000, 9_000];
const lastsMs: Range = [500, 12_000];
/** Share of the actions during which the app is killed. */
const killed = 0.08;
/** The most milliseconds after which the app is killed. Some calls are over by then. */
const killWithinMs = 300;

type Doing = (user: SdkUser, rest: Rest) => Promise<void>;
/** Waits for a random time within the range, or until the run ends. */
type Rest = (range: Range) => Promise<void>;

/** Possible next actions of a logged-in user, with their weights. */
const doings: readonly (readonly [weight: number, Doing])[] = [
  [45, (user) => useApp(user, read)],
  [10, (user) => useApp(user, move)],
  [8, (user) => useApp(user, logIn)],
  [8, (user) => useApp(user, logOut)],
  // The service learns of the logout when there is a network, even if the app was killed before.
  [6, (user, rest) => goOffline(user, rest, logOut, 0.5)],
  [10, (user, rest) => goOffline(user, rest, read, 0.3)],
  [10, goToBackground],
  [8, restart],
];

/** Starts the app if necessary, and does the action, during which the app may be killed. */
async function useApp(user: SdkUser, action: Action): Promise<void> {
  const app = user.app ?? (await startApp(user));
  const work = action(user, app);
  if (user.random() >= killed) return work;
  await Promise.race([work, sleep(user.random() * killWithinMs)]);
  killApp(user);
}

async function restart(user: SdkUser, rest: Rest): Promise<void> {
  if (user.app !== undefined) killApp(user);
  await rest(lastsMs);
  await startApp(user);
}

/** Does the action without a network for a while, in which the app may be started again. */
async function goOffline(user: SdkUser, rest: Rest, action: Action, restarted: number): Promise<void> {
  user.phone.network.turn(false);
  await useApp(user, action);
  if (user.random() < restarted) await restart(user, rest);
  else await rest(lastsMs);
  user.phone.network.turn(true);
}

/** Puts the app into the background, where the system may kill it. */
async function goToBackground(user: SdkUser, rest: Rest): Promise<void> {
  user.phone.foreground.turn(false);
  if (user.random() < 0.3) killApp(user);
  await rest(lastsMs);
  user.phone.foreground.turn(true);
}

async function doNext(user: SdkUser, rest: Rest): Promise<void> {
  if (user.app === undefined) await startApp(user);
  if (user.registration?.outcome !== 'acknowledged') await useApp(user, register);
  else if (stateOf(user).status === 'signed_in') {
    if (lacksSignInMethod(user) && user.random() < 0.5) await useApp(user, addSignInMethod);
    else await anyWeighted(user.random, doings)[1](user, rest);
  } else await useApp(user, logIn);
}

/** Makes the app run in the foreground with a network, so that everything that has waited for this is done. */
async function pickUp(user: SdkUser): Promise<void> {
  const { network, foreground } = user.phone;
  network.turn(true);
  foreground.turn(false);
  foreground.turn(true);
  if (user.app === undefined) await startApp(user);
}

/** Starts users of the client. A seed repeats what each user does, as far as the answers are the same. */
export function startSdkUsers(world: World, seed: number) {
  const { signal, begin, finish, close } = createLives();
  const households: Household[] = Array.from({ length: Math.ceil(count / 2) }, () => ({}));
  const users = Array.from({ length: count }, (_, id) => {
    const household = households[Math.floor(id / 2)] ?? {};
    return createSdkUser({ world, id, seed, isHost: id % 2 === 0, household });
  });
  for (const user of users) {
    begin(user.random, pauseMs, () => doNext(user, (range) => rest(user.random, range, signal)));
  }
  return {
    users: users as readonly SdkUser[],
    /** Lets all users finish what they are doing. Afterwards every app runs in the foreground, with a network. */
    async finish() {
      await finish();
      await Promise.all(users.map(pickUp));
    },
    /** Ends every app. */
    close() {
      close();
      for (const { phone } of users) phone.kill();
    },
  };
}
