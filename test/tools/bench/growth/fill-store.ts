import type { KeyFiles } from '@auth-account/local-stack';
import type { Collections } from '@auth-account/stores';
import { newAccountSeed } from '../../../support/seed-accounts.ts';
import { makeHash } from '../cost/bare-hash.ts';
import type { Ground } from '../cost/ground.ts';
import { createSessionSeeds, type SeededSession } from '../cost/session-seeds.ts';

export interface Filling {
  /** Users to be added. */
  readonly users: number;
  /** How many accounts and sessions operations will ask for at most. */
  readonly accounts: number;
  readonly sessions: number;
}

export interface Filled extends Ground {
  /** That were added: one per user, or as many as were asked for where that is more. */
  readonly sessionCount: number;
}

const batch = 5_000;
const writersAtOnce = 3;
/** It is filled as an import would; what is measured writes as it always does. */
const quickly = { ordered: false, writeConcern: { w: 1 } } as const;

/**
 * Adds users, each with a group and a live session, and gives the ground that lies evenly spread over them: what is measured
 * then looks for its documents in the whole of the store, not in what was written last.
 */
export async function fillStore(collections: Collections, keys: KeyFiles, filling: Filling): Promise<Filled> {
  const { users, accounts, sessions } = filling;
  const passwordHash = makeHash();
  const newSession = await createSessionSeeds(keys);
  const sessionsEach = Math.ceil(Math.max(users, sessions) / users);
  const emails: string[] = [];
  const kept: SeededSession[] = [];
  let next = 0;

  async function writeBatch(): Promise<void> {
    const first = next;
    const seeds = Array.from({ length: Math.min(batch, users - first) }, () => newAccountSeed(passwordHash));
    next += seeds.length;
    const sessionSeeds = seeds.flatMap(({ user }) =>
      Array.from({ length: sessionsEach }, () => newSession({ userId: user._id, groupId: user.home_group_id })),
    );
    await collections.groups.insertMany(
      seeds.map(({ group }) => group),
      quickly,
    );
    await collections.users.insertMany(
      seeds.map(({ user }) => user),
      quickly,
    );
    await collections.sessions.insertMany(
      sessionSeeds.map(({ document }) => document),
      quickly,
    );
    emails.push(...everyNth(seeds, users / accounts, first).map(({ user }) => user.email));
    const keeping = everyNth(sessionSeeds, (users * sessionsEach) / sessions, first * sessionsEach);
    kept.push(...(await Promise.all(keeping.map(({ tokens }) => tokens()))));
  }

  const writer = async () => {
    while (next < users) await writeBatch();
  };
  await Promise.all(Array.from({ length: writersAtOnce }, writer));
  return { ...takingFrom(shuffled(emails), shuffled(kept)), sessionCount: users * sessionsEach };
}

/** Those whose place in the whole, which begins `first` before the list, is a multiple of the step. */
function everyNth<T>(list: readonly T[], step: number, first: number): T[] {
  const whole = Math.max(1, Math.floor(step));
  return list.filter((_, index) => (first + index) % whole === 0);
}

/** Each round then has some of everywhere. */
function shuffled<T>(list: readonly T[]): T[] {
  const placed = list.map((item) => ({ item, place: Math.random() }));
  return placed.toSorted((a, b) => a.place - b.place).map(({ item }) => item);
}

/** Each is given once. */
function takingFrom(emails: string[], sessions: SeededSession[]): Ground {
  const take = <T>(from: T[], count: number, what: string): T[] => {
    if (from.length < count) throw new RangeError(`${count} ${what} were asked for, there are ${from.length}`);
    return from.splice(0, count);
  };
  return {
    accounts: async (count) => take(emails, count, 'accounts'),
    sessions: async (count) => take(sessions, count, 'sessions'),
  };
}
