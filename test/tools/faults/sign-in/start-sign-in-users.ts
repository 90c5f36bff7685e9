import type { Collections } from '@auth-account/stores';
import { createLives, type Range } from '../load/app.ts';
import { checkIdentity, createFederatedUser, logInByProvider } from './federated-user.ts';
import { checkRemoval, createGuardedUser, loseFactor } from './guarded-user.ts';
import { checkGuesses, createGuessedUser, guessSecret } from './guessed-user.ts';
import type { SignInWorld } from './sign-in-user.ts';

/** Users who log in by a provider, who lose their second factor, and whose secrets are guessed, while things break. */
export type SignInUsers = Awaited<ReturnType<typeof startSignInUsers>>;

/** Number of users of each kind. */
const count = 6;
/** Between two actions of a user, and between two guesses. */
const pauseMs: Range = [1_000, 6_000];
const guessMs: Range = [50, 300];

/** Registers the users, and lets them do something again and again. */
export async function startSignInUsers(world: SignInWorld, seed: number) {
  const { begin, finish, close } = createLives();
  const ids = Array.from({ length: count }, (_, id) => id);
  const federated = ids.map((id) => createFederatedUser(world, seed, id));
  const guarded = await Promise.all(ids.map((id) => createGuardedUser(world, seed, id)));
  const secrets = ['password', 'factor', 'code'] as const;
  const guessed = await Promise.all(secrets.map((secret) => createGuessedUser(world, seed, secret)));

  for (const user of federated) begin(user.person.random, pauseMs, () => logInByProvider(user));
  for (const user of guarded) begin(user.person.random, pauseMs, () => loseFactor(user));
  for (const user of guessed) begin(user.person.random, guessMs, () => guessSecret(user));
  return {
    finish,
    /** Compares the users' accounts with the answers that they got. */
    async check(stores: Collections, faults: Parameters<typeof checkGuesses>[1]) {
      for (const user of guessed) checkGuesses(user, faults);
      await Promise.all(federated.map((user) => checkIdentity(user, stores)));
      await Promise.all(guarded.map((user, id) => checkRemoval(user, stores, id % 2 === 1)));
    },
    close,
  };
}
