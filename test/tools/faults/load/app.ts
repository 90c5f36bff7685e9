import { type AppRequest, type Reply, sendFromApp } from './app-request.ts';
import type { AppStream } from './app-stream.ts';
import type { History, Outcome, Sort } from './history.ts';
import type { AccountRecord, ChangeRecord, Credentials, Deletion, Ledger, SessionRecord } from './ledger.ts';

/** Everything that was mailed to users. */
export interface Mailbox {
  /** Returns a challenge's code and email address, if the code has arrived. */
  codeOf(challengeId: string): { readonly email: string; readonly code: string } | undefined;
  /** Returns true if a mail to the address contained the text. */
  wasMailed(email: string, text: string): boolean;
  /**
   * Removes and returns the token of the newest notification to the email address of a change that can be undone. No
   * token comes twice.
   */
  takeUndoToken(email: string): string | undefined;
  /** Returns the token that stops the removal of a second factor at that time. */
  stopTokenOf(email: string, dueAt: string): string | undefined;
}

/** The objects that all apps share. */
export interface World {
  readonly history: History;
  readonly ledger: Ledger;
  readonly apiPorts: readonly number[];
  readonly gatewayPorts: readonly number[];
  readonly mailbox: Mailbox;
  /** True if apps that wait for an answer shall give up. */
  isOver?: boolean;
  nextRequestId(): string;
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

/** The app on a device. It does not use the client of apps, so that each answer can be compared. */
export interface App {
  readonly world: World;
  readonly person: Person;
  readonly device: Device;
}

/** The sender of a request. */
export interface Caller {
  readonly world: World;
  readonly person: Pick<Person, 'id' | 'random' | 'timeoutMs'>;
}

/** An operation, and the kinds under which the statistics count it. */
export interface Call {
  readonly kind: string;
  readonly sort: Sort;
  /** Builds the request anew for each attempt, because there may be newer tokens. */
  readonly request: () => AppRequest;
}

export interface Answered {
  /** The answer; undefined if the run ended before it came. */
  readonly reply: Reply | undefined;
  /** True if an earlier attempt may have taken effect. */
  readonly wasUnsure: boolean;
}

const tooManyRequests = 429;
const maxPauseMs = 5_000;

function outcomeOf(reply: Reply | undefined): Outcome {
  if (reply === undefined || reply.status >= 500 || reply.status === tooManyRequests) return 'unknown';
  return reply.status < 300 ? 'acknowledged' : 'refused';
}

/** Returns a random item, as a load balancer chooses a server. */
export function anyOf<T>(random: () => number, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)] as T;
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Sends the request once to a random api, and records the answer. A 500 counts as a fault of the service. */
export async function callOnce({ world, person }: Caller, { kind, sort, request }: Call) {
  const { history } = world;
  const { id, random, timeoutMs } = person;
  const [at, requestId] = [history.now(), world.nextRequestId()];
  const api = Math.floor(random() * world.apiPorts.length);
  const reply = await sendFromApp(request(), { port: world.apiPorts[api] ?? 0, requestId, timeoutMs });
  const [outcome, took] = [outcomeOf(reply), history.now() - at];
  const { status, code } = reply ?? {};
  history.record({ kind, sort, person: id, requestId, via: `api-${api + 1}`, outcome, status, code, at, took });
  if (status === 500) history.violate('an answer was 500', { kind, requestId });
  return { reply, outcome };
}

/**
 * Repeats the request, with pauses that grow to five seconds, until there is a final answer. An app should react like
 * this to a lost answer, a 503 or a 429.
 */
export async function callUntilAnswered(caller: Caller, call: Call): Promise<Answered> {
  const { world, person } = caller;
  for (let attempt = 0; ; attempt += 1) {
    const { reply, outcome } = await callOnce(caller, call);
    if (outcome !== 'unknown') return { reply, wasUnsure: attempt > 0 };
    if (world.isOver) return { reply: undefined, wasUnsure: true };
    await pause((0.5 + person.random() / 2) * Math.min(maxPauseMs, 200 * 2 ** attempt));
  }
}
