import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHistory, type History } from './history.ts';
import {
  type AccountRecord,
  type ChangeRecord,
  type Credentials,
  createLedger,
  type Deletion,
  type Ledger,
  type SessionRecord,
} from './ledger.ts';
import { createMailbox, type Mailbox } from './mailbox.ts';
import type { AppStream } from './push.ts';

/** The objects that all apps share. */
export interface World {
  readonly history: History;
  readonly ledger: Ledger;
  /** URLs of the processes: `http://…` and `ws://…`. */
  readonly apis: readonly string[];
  readonly gateways: readonly string[];
  readonly mailbox: Mailbox;
  /** True if apps that wait for an answer shall give up. */
  isOver?: boolean;
}

/** Creates a world of these processes, with a new part in place of each that is not given. */
export async function createWorld(given: Partial<World>): Promise<World> {
  const own = { history: createHistory(), ledger: createLedger(), mailbox: await createMailbox() };
  return { ...own, apis: [], gateways: [], ...given };
}

/** Returns the world of apps that do not give up for a while, although the load is over. */
export function patiently<W extends World>(world: W, patienceMs: number): W {
  const deadline = performance.now() + patienceMs;
  return {
    ...world,
    get isOver() {
      return performance.now() > deadline;
    },
  };
}

/** An installation of the app. */
export interface Device {
  readonly deviceId: string;
  session?: SessionRecord | undefined;
  refreshToken: string;
  stream?: AppStream | undefined;
  /** True if the app's access token was refused, or will be. */
  mustRefresh: boolean;
}

export const createDevice = (): Device => ({ deviceId: randomUUID(), refreshToken: '', mustRefresh: false });

/** A code that its user waits for. */
export interface Errand {
  readonly purpose: 'password_reset' | 'email_change' | 'account_deletion';
  readonly challengeId: string;
  /** The email address to which the code is sent. */
  readonly email: string;
  /** True if an earlier request without an answer may overtake this one, and end its challenge. */
  readonly wasUnsure: boolean;
  /** The time of the request, by the history's clock. */
  readonly askedAt: number;
}

/** A user with one or two devices, who does one thing at a time. */
export interface Person {
  readonly id: number;
  readonly random: () => number;
  /** Possible pairs of email address and password, the likeliest first, never empty. Exactly one pair can log in. */
  holds: readonly Credentials[];
  readonly devices: readonly Device[];
  /** Milliseconds for which the person's apps wait for an answer. */
  readonly timeoutMs: number;
  userId?: string;
  account?: AccountRecord;
  /** Changes that have taken effect if the first pair of {@link holds} can log in. */
  unsureChanges?: readonly ChangeRecord[] | undefined;
  errand?: Errand | undefined;
  /** The former email address to which the user wants to return. */
  wantedEmail?: string | undefined;
  deletion?: Deletion | undefined;
  /** The user's group, as the answers say; undefined while a change of group has no answer. */
  groupId: string | undefined;
  isOwner: boolean;
  stepsLeft: number;
}

type Habits = Pick<Person, 'random' | 'timeoutMs'> & Partial<Person>;

/** Creates somebody who has no account yet. */
export function createPerson(id: number, habits: Habits & Pick<Person, 'devices'>): Person {
  const email = `person-${id}-${randomUUID().slice(0, 8)}@example.com`;
  const holds = [{ email, password: `password of ${id}` }];
  return { id, holds, groupId: undefined, isOwner: false, stepsLeft: 1, ...habits };
}

/** The app on a device. It does not use the client of apps, so that each answer can be compared. */
export interface App {
  readonly world: World;
  readonly person: Person;
  readonly device: Device;
}

/** Creates the app of somebody with one device and no account yet. */
export function createApp(world: World, id: number, habits: Habits): App {
  const device = createDevice();
  return { world, person: createPerson(id, { devices: [device], ...habits }), device };
}

/** Returns a random item, as a load balancer chooses a server. */
export function anyOf<T>(random: () => number, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)] as T;
}

/** Returns a random item. An item with twice the weight is twice as likely. */
export const anyWeighted = <T extends readonly [weight: number, ...unknown[]]>(
  random: () => number,
  list: readonly T[],
) =>
  anyOf(
    random,
    list.flatMap((item) => Array<T>(item[0]).fill(item)),
  );

export type Range = readonly [minMs: number, maxMs: number];

/** Waits for a random time within the range, or until the signal is aborted. */
export async function rest(random: () => number, [shortest, longest]: Range, signal: AbortSignal): Promise<void> {
  await sleep(shortest + random() * (longest - shortest), undefined, { signal }).catch(() => undefined);
}

/** Lives in which users act again and again, each after a pause. */
export function createLives() {
  const ending = new AbortController();
  const { signal } = ending;
  const lives: Promise<void>[] = [];
  async function live(random: () => number, pause: Range, act: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      await rest(random, pause, signal);
      if (!signal.aborted) await act();
    }
  }
  return {
    signal,
    begin: (...life: Parameters<typeof live>) => void lives.push(live(...life)),
    /** Lets all users finish what they are doing. */
    async finish() {
      ending.abort();
      await Promise.all(lives);
    },
    close: () => ending.abort(),
  };
}

/** Looks for a fault until there is none, or until `patienceMs` are over. Returns the one that is left. */
export async function settle<T>(patienceMs: number, findFault: () => Promise<T | undefined>): Promise<T | undefined> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const fault = await findFault();
    if (fault === undefined || performance.now() > deadline) return fault;
    await sleep(100);
  }
}
