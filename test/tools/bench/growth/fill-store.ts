import type { KeyFiles } from '@auth-account/local-stack';
import type { Collections } from '@auth-account/stores';
import { newAccountSeed } from '../../../support/api/seed-accounts.ts';
import { runAtOnce } from '../concurrent-load.ts';
import type { TestBed } from '../cost/operations.ts';
import { makeHash } from '../cost/own-candidate.ts';
import { createSessionSeeds, type SeededSession } from '../cost/session-seeds.ts';

export interface Filling {
  /** Number of users to be added. */
  readonly users: number;
  /** The most accounts and sessions that the operations will ask for. */
  readonly accounts: number;
  readonly sessions: number;
}

export interface Filled extends TestBed {
  /** Number of sessions that were added, which is at least one per user, and at least as many as were asked for. */
  readonly sessionCount: number;
}

const batch = 5_000;
const writersAtOnce = 3;
/**
 * The sessions start at random generations from 1 to this number. Each session is refreshed only once, and a refresh is
 * more expensive at some generations.
 */
const generations = 8;
/** Options for writing as an import would. The measured operations write as usual. */
const quickly = { ordered: false, writeConcern: { w: 1 } } as const;

/**
 * Adds users, each with a group and live sessions. Returns accounts and sessions that are picked evenly from all of
 * them, so that the measured operations look for documents in the whole store, not only in its newest part.
 */
export async function fillStore(collections: Collections, keys: KeyFiles, filling: Filling): Promise<Filled> {
  const { users, accounts, sessions } = filling;
  const passwordHash = makeHash();
  const { newSession, fillerSession } = await createSessionSeeds(keys);
  const sessionsEach = Math.ceil(Math.max(users, sessions) / users);
  const emails: string[] = [];
  const kept: SeededSession[] = [];

  async function writeBatch(index: number): Promise<void> {
    const first = index * batch;
    const seeds = Array.from({ length: Math.min(batch, users - first) }, () => newAccountSeed(passwordHash));
    const owners = seeds.flatMap(({ user }) =>
      Array.from({ length: sessionsEach }, () => ({ userId: user._id, groupId: user.home_group_id })),
    );
    const isAskedFor = isNth((users * sessionsEach) / sessions, first * sessionsEach);
    const askedFor = owners.flatMap((owner, index) =>
      isAskedFor(index) ? [newSession(owner, 1 + Math.floor(Math.random() * generations))] : [],
    );
    const fillers = owners.flatMap((owner, index) => (isAskedFor(index) ? [] : [fillerSession(owner)]));
    const [groups, owned] = [seeds.map(({ group }) => group), seeds.map(({ user }) => user)];
    await collections.groups.insertMany(groups, quickly);
    await collections.users.insertMany(owned, quickly);
    await collections.sessions.insertMany(shuffled([...fillers, ...askedFor.map(({ document }) => document)]), quickly);
    const isAccountAskedFor = isNth(users / accounts, first);
    emails.push(...seeds.flatMap(({ user }, index) => (isAccountAskedFor(index) ? [user.email] : [])));
    kept.push(...askedFor.map(({ session }) => session));
  }

  await runAtOnce({ count: Math.ceil(users / batch), atOnce: writersAtOnce }, writeBatch);
  return { ...takingFrom(shuffled(emails), shuffled(kept)), sessionCount: users * sessionsEach };
}

/**
 * Returns a function that takes an index in the batch that starts at `first`, and returns true for every `step`-th item
 * of all batches together.
 */
function isNth(step: number, first: number): (index: number) => boolean {
  const whole = Math.max(1, Math.floor(step));
  return (index) => (first + index) % whole === 0;
}

/** Shuffles the items, so that each round of the benchmark gets items from the whole store. */
function shuffled<T>(list: readonly T[]): T[] {
  const placed = list.map((item) => ({ item, place: Math.random() }));
  return placed.toSorted((a, b) => a.place - b.place).map(({ item }) => item);
}

/** Creates a test bed that gives out each account and session once. */
function takingFrom(emails: string[], sessions: SeededSession[]): TestBed {
  const take = <T>(from: T[], count: number, what: string): T[] => {
    if (from.length < count) throw new RangeError(`${count} ${what} were asked for, there are ${from.length}`);
    return from.splice(0, count);
  };
  return {
    refreshesEach: 1,
    accounts: async (count) => take(emails, count, 'accounts'),
    sessions: async (count) => take(sessions, count, 'sessions'),
  };
}
