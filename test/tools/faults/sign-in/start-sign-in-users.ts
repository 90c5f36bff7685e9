import { setTimeout as sleep } from 'node:timers/promises';
import { createFederatedUser, type FederatedUser, logInByProvider } from './federated-user.ts';
import { createGuardedUser, type GuardedUser, loseFactor } from './guarded-user.ts';
import { createGuessedUser, type GuessedUser, guessSecret } from './guessed-user.ts';
import type { SignInUser, SignInWorld } from './sign-in-user.ts';

/** Users who log in by a provider, who lose their second factor, and whose secrets are guessed, while things break. */
export interface SignInUsers {
  readonly federated: readonly FederatedUser[];
  readonly guarded: readonly GuardedUser[];
  readonly guessed: readonly GuessedUser[];
  /** Lets all users finish what they are doing. */
  finish(): Promise<void>;
  close(): void;
}

/** Number of users of each kind. */
const count = 6;
/** The shortest and longest milliseconds between two actions of a user. */
const [shortestMs, maxMs] = [1_000, 6_000];

/** Registers the users, and lets them do something again and again. */
export async function startSignInUsers(world: SignInWorld, seed: number): Promise<SignInUsers> {
  const ending = new AbortController();
  const ids = Array.from({ length: count }, (_, id) => id);
  const federated = ids.map((id) => createFederatedUser(world, seed, id));
  const guarded = await Promise.all(ids.map((id) => createGuardedUser(world, seed, id)));
  const secrets = ['password', 'factor', 'code'] as const;
  const guessed = await Promise.all(secrets.map((secret) => createGuessedUser(world, seed, secret)));

  async function live<U extends SignInUser>(user: U, act: (user: U) => Promise<void>, pace = 1): Promise<void> {
    while (!ending.signal.aborted) {
      const pauseMs = (shortestMs + user.random() * (maxMs - shortestMs)) / pace;
      await sleep(pauseMs, undefined, { signal: ending.signal }).catch(() => undefined);
      if (!ending.signal.aborted) await act(user);
    }
  }

  const lives = [
    ...federated.map((user) => live(user, logInByProvider)),
    ...guarded.map((user) => live(user, loseFactor)),
    ...guessed.map((user) => live(user, guessSecret, 20)),
  ];
  return {
    federated,
    guarded,
    guessed,
    async finish() {
      ending.abort();
      await Promise.all(lives);
    },
    close: () => ending.abort(),
  };
}
